// Exports SignetStorage under the module name `Storage`, which the Ping documentation uses. It adds no code of its own.
@_exported public import SignetStorage
