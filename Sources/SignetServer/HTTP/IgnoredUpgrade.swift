import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Answers a request that asks for another protocol as a plain HTTP/1.1 request, and makes it the last one of its connection (RFC
/// 9110 section 7.8 lets a server ignore `Upgrade`).
///
/// SwiftNIO's HTTP decoder reads nothing more from a connection after a request with `Connection: Upgrade`, or after `CONNECT`.
/// Java's HttpClient and `curl --http2` send `Connection: Upgrade` over plain http. The response must therefore contain
/// `Connection: close`, so that the client sends its next request on another connection. Hummingbird closes the connection
/// because the request now has `Connection: close`.
final class IgnoredUpgrade: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), head.method == .connect || head.headerFields.contains(.upgrade) else {
            return context.fireChannelRead(data)
        }
        head.headerFields[.upgrade] = nil
        head.headerFields[.connection] = "close"
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
