// An error is a `LocalizedError`; PingOath and PingPush, whose models name `Date` and `Data`, export this module.
@_exported public import Foundation
@_exported public import typealias SignetNetwork.ContentReceiver
@_exported public import struct SignetNetwork.HTTPHeaders
@_exported public import struct SignetNetwork.HTTPRequest
@_exported public import struct SignetNetwork.HTTPResponse
@_exported public import protocol SignetNetwork.HTTPTransport
@_exported public import struct SignetNetwork.TransportError
