"""Tools for developers: no part of the app, of the library or of training."""
