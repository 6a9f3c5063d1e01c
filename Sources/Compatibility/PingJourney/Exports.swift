// Exports what the signatures of this module name.
@_exported public import PingJourneyPlugin
@_exported public import PingOidc
@_exported public import PingOrchestrate
