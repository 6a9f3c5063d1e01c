// Exports, under the module name of the Ping SDK, the types of the engine that `PushClient` takes and returns.
@_exported public import SignetAuthenticator
@_exported public import SignetCore
