"""SPEAKS below the faces: every sentence of an error, a refusal or a fact, made from its code and its values.

A module for each room that has something to say, in a folder where a room has several; the sentences of one machine
lie in its pack (`packs/NAME/words.py`). The functions return sentences and decide nothing; they import nothing but
`message`, `names` and values.
"""
