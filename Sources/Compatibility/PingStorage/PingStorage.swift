// Exports SignetStorage under the module name `PingStorage`, which apps of the Ping SDK import.
@_exported public import SignetStorage
