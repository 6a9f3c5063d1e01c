// One import suffices for the types that the signatures of this module name.
@_exported public import Foundation

@_exported public import typealias SignetNetwork.ContentReceiver
@_exported public import struct SignetNetwork.HTTPHeaders
@_exported public import struct SignetNetwork.HTTPRequest
@_exported public import struct SignetNetwork.HTTPResponse
@_exported public import protocol SignetNetwork.HTTPTransport
@_exported public import struct SignetNetwork.TransportError

#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif
