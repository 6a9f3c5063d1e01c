// Exports what the signatures of this module name.
@_exported public import PingOrchestrate
