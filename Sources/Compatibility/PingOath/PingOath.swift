// Exports the types of other modules that the API of PingOath names.
//
// The exports of the engine name single types, because other modules have types of their own with names such as
// `PushNotification`.
@_exported public import PingCommons
@_exported public import PingLogger

@_exported public import protocol SignetAuthenticator.AccountItemTaking
@_exported public import struct SignetAuthenticator.AccountRecords
@_exported public import protocol SignetAuthenticator.AccountStore
@_exported public import protocol SignetAuthenticator.AccountStoreTaking
@_exported public import struct SignetAuthenticator.StoredAccounts
@_exported public import struct SignetCore.AccountPolicies
@_exported public import protocol SignetCore.AccountPolicy
@_exported public import protocol SignetCore.WallClock
@_exported public import struct SignetStorage.LegacyArchive
@_exported public import protocol SignetStorage.LegacyStore
@_exported public import protocol SignetStorage.Storage
@_exported public import struct SignetStorage.StoreError
@_exported public import class SignetStorage.VaultProvider
