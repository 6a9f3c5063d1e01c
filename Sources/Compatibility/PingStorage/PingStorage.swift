// Exports SignetStorage under the module name `PingStorage`, which apps of the Ping SDK import. It adds no code of its own.
@_exported public import SignetStorage
