"""The demo gallery: stores made by this program's own code, in child processes that play other programs.

`gallery` says what is in it and where, `build` makes it (run as a child), `live` is the child that goes on
writing, `session` is one demo from building to leaving.
"""
