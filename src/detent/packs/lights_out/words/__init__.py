"""The sentences of this pack, a module for each kind of document or act."""
