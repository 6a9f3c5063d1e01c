// One import suffices for the types that the signatures of this module name.
@_exported public import Foundation

@_exported public import struct FRCore.Action
@_exported public import enum FRCore.ActionType
@_exported public import protocol FRCore.CodedFRError
@_exported public import protocol FRCore.FRError
@_exported public import protocol FRCore.FRLogger
@_exported public import struct FRCore.KeychainService
@_exported public import struct FRCore.LogLevel
@_exported public import enum FRCore.NetworkError
@_exported public import struct FRCore.Request
@_exported public import protocol FRCore.RequestInterceptor
@_exported public import class FRCore.RequestInterceptorRegistry
@_exported public import struct SignetCore.CookieJar
@_exported public import struct SignetCore.Endpoint
@_exported public import struct SignetCore.SSOToken
@_exported public import struct SignetCore.Secret
@_exported public import typealias SignetNetwork.ContentReceiver
@_exported public import struct SignetNetwork.HTTPHeaders
@_exported public import struct SignetNetwork.HTTPRequest
@_exported public import struct SignetNetwork.HTTPResponse
@_exported public import protocol SignetNetwork.HTTPTransport
@_exported public import struct SignetNetwork.TransportError
@_exported public import struct SignetOAuth.AuthorizedTransport
@_exported public import struct SignetOAuth.LogOutReport
@_exported public import class SignetOAuth.SessionStore
@_exported public import class SignetStorage.KeychainStorage
@_exported public import struct SignetStorage.LegacyArchive
@_exported public import protocol SignetStorage.LegacyStore
@_exported public import class SignetStorage.MemoryStorage
@_exported public import protocol SignetStorage.Storage
@_exported public import struct SignetStorage.StoreError
@_exported public import class SignetStorage.VaultProvider

#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif
