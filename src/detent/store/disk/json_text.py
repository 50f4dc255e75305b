"""JSON as text on one line, by encoders that are made once; `as_json` of atomic.py makes bytes of it."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def _encoder(item: str, key: str) -> Callable[[object], str]:
    """`json.dumps` makes an encoder on every call, and the encoder makes the real one, in C, on every use of it.

    What we write is made of fresh tables and can't contain itself; looking for that takes a fifth of the time.
    """
    plain = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(item, key))
    make, text = getattr(json.encoder, "c_make_encoder", None), getattr(json.encoder, "encode_basestring", None)
    try:
        whole = make(None, plain.default, text, None, key, item, False, False, True)  # type: ignore[misc]  # may be None
    except TypeError:  # another Python, whose own way it is
        return plain.encode
    return lambda content: "".join(whole(content, 0))


compact_json, spaced_json = _encoder(",", ":"), _encoder(", ", ": ")
