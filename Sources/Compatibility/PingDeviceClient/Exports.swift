// Exports what the signatures of this module name.
@_exported public import Foundation
@_exported public import PingLogger

@_exported public import class PingCommons.HttpClient
@_exported public import typealias SignetNetwork.ContentReceiver
@_exported public import struct SignetNetwork.HTTPHeaders
@_exported public import struct SignetNetwork.HTTPRequest
@_exported public import struct SignetNetwork.HTTPResponse
@_exported public import protocol SignetNetwork.HTTPTransport
@_exported public import struct SignetNetwork.TransportError
