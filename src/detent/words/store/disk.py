"""Why a file, a folder or a lock can't be had: the sentences of the store's disk."""

from __future__ import annotations

import errno

from detent.words.message import message

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "operation not permitted",
    errno.EIO: "input/output error of the disk",
    errno.ENOENT: "no such file or folder",
    errno.ENOTDIR: "a part of the path is not a folder",
    errno.EISDIR: "it is a folder",
    errno.ELOOP: "it is a symbolic link",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EFBIG: "the file would be larger than is allowed here",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open on this host",
    errno.ENOMEM: "this host is out of memory",
}


@message
def file_not_moved_aside() -> str:
    return "file can't be moved aside"


@message
def file_not_written() -> str:
    return "file can't be written"


@message
def folder_not_made() -> str:
    return "folder can't be made"


@message
def reason(number: int, otherwise: str) -> str:
    """Why the system refused, by its error's number; `otherwise`: what the system itself says."""
    return _REASONS.get(number, otherwise)


@message
def make_path_writable() -> str:
    return "make the path writable"


@message
def free_space() -> str:
    return "free space or repair the disk"


@message
def end_other_programs() -> str:
    return "end other programs or raise the limit"


@message
def disk_refused(what: str, reason: str, remedy: str) -> tuple[str, str]:
    return f"{what}: {reason}", f"{remedy}, then run the same command again; nothing was lost"


@message
def binary_data(at: int) -> str:
    return f"file holds binary data (byte {at})"


@message
def unreadable(reason: str) -> str:
    return f"file can't be read: {reason}"


@message
def no_plain_file() -> str:
    return "file can't be read: it is not a plain file"


@message
def too_large(size_bytes: int, limit_bytes: int) -> str:
    return f"file can't be read: {size_bytes} bytes, at most {limit_bytes} are allowed"


@message
def more_than(limit_bytes: int) -> str:
    return f"file can't be read: more than {limit_bytes} bytes"


@message
def not_utf8(at: int) -> str:
    return f"file is not UTF-8 text (byte {at})"


@message
def file_where_folder_is_needed() -> str:
    return "a file stands where a folder is needed"


@message
def file_not_read() -> str:
    return "file can't be read"


@message
def not_a_file_of_its_own() -> tuple[str, str]:
    return (
        "file can't be written: it is not a plain file of its own",
        "detent doctor --repair, then run the same command again",
    )


@message
def lock_not_opened() -> str:
    return "lock can't be opened"


@message
def lock_not_taken() -> str:
    return "lock can't be taken"


@message
def lock_held(wait_s: float) -> tuple[str, str]:
    return (
        f"another detent command has held the lock for {wait_s:.0f} s",
        "wait for it to end, then run the same command again",
    )


@message
def file_not_removed() -> str:
    return "file can't be removed"


@message
def git_file_names_nothing() -> str:
    return "the .git file names no git folder"


@message
def git_file_names_no_git_folder(git_dir: str) -> tuple[str, str]:
    return (
        f"the .git file names {git_dir}, which is no git folder",
        "mend it with: git worktree repair (or git submodule update --init)",
    )


@message
def git_folder_unreadable() -> str:
    return "a file of the git folder may not be read"
