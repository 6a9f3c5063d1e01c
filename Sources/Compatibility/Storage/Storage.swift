// Exports PingStorage, and with it SignetStorage, under the module name `Storage`, which the Ping documentation uses.
@_exported public import PingStorage
