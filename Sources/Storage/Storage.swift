// The module that the Ping documents call `Storage`: SignetStorage under another name, nothing else.
@_exported public import SignetStorage
