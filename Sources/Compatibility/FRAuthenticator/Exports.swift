// One import suffices for the types that the signatures of this module name.
@_exported public import Foundation

@_exported public import protocol FRCore.CodedFRError
@_exported public import protocol FRCore.FRError
@_exported public import struct FRCore.LogLevel
@_exported public import enum FRCore.NetworkError
@_exported public import typealias SignetNetwork.ContentReceiver
@_exported public import struct SignetNetwork.HTTPHeaders
@_exported public import struct SignetNetwork.HTTPRequest
@_exported public import struct SignetNetwork.HTTPResponse
@_exported public import protocol SignetNetwork.HTTPTransport
@_exported public import struct SignetNetwork.RequestAction
@_exported public import struct SignetNetwork.TransportError
@_exported public import struct SignetStorage.LegacyArchive
@_exported public import protocol SignetStorage.LegacyStore
