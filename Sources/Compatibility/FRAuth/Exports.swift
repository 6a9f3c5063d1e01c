// One import suffices for the types that the signatures of this module name.
@_exported public import struct FRCore.Action
@_exported public import enum FRCore.ActionType
@_exported public import protocol FRCore.CodedFRError
@_exported public import protocol FRCore.FRError
@_exported public import enum FRCore.NetworkError
@_exported public import struct FRCore.Request
@_exported public import protocol FRCore.RequestInterceptor
@_exported public import class FRCore.RequestInterceptorRegistry
@_exported public import typealias SignetNetwork.ContentReceiver
@_exported public import struct SignetNetwork.HTTPHeaders
@_exported public import struct SignetNetwork.HTTPRequest
@_exported public import struct SignetNetwork.HTTPResponse
@_exported public import protocol SignetNetwork.HTTPTransport
@_exported public import struct SignetNetwork.TransportError
@_exported public import struct SignetStorage.LegacyArchive
@_exported public import protocol SignetStorage.LegacyStore
