// Exports the types of other modules that the API of PingPush names.
//
// The exports of the engine name single types, because it has types of its own with names such as `PushNotification`.
@_exported public import PingCommons
@_exported public import PingLogger

@_exported public import protocol SignetAuthenticator.AccountItemTaking
@_exported public import struct SignetAuthenticator.AccountRecords
@_exported public import protocol SignetAuthenticator.AccountStore
@_exported public import protocol SignetAuthenticator.AccountStoreTaking
@_exported public import enum SignetAuthenticator.NotificationRetention
@_exported public import struct SignetAuthenticator.PushDevice
@_exported public import struct SignetAuthenticator.StoredAccounts
@_exported public import struct SignetCore.AccountPolicies
@_exported public import protocol SignetCore.AccountPolicy
@_exported public import protocol SignetCore.RetryableError
@_exported public import protocol SignetCore.WallClock
@_exported public import typealias SignetNetwork.ContentReceiver
@_exported public import struct SignetNetwork.HTTPHeaders
@_exported public import struct SignetNetwork.HTTPRequest
@_exported public import struct SignetNetwork.HTTPResponse
@_exported public import protocol SignetNetwork.HTTPTransport
@_exported public import struct SignetNetwork.RequestAction
@_exported public import protocol SignetNetwork.RequestInterceptor
@_exported public import struct SignetNetwork.TransportError
@_exported public import struct SignetStorage.LegacyArchive
@_exported public import protocol SignetStorage.LegacyStore
@_exported public import protocol SignetStorage.Storage
@_exported public import struct SignetStorage.StoreError
@_exported public import class SignetStorage.VaultProvider
