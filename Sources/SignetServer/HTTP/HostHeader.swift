import NIOCore
import NIOHTTP1

/// The error for a request whose host is missing, repeated or contradictory.
struct InvalidHostHeader: Error {}

/// Rejects requests that don't name exactly one host (RFC 9112 section 3.2): without `Host`, with more than one, with one that
/// is malformed, or with one that differs from the host in the request target.
///
/// A proxy in front of the server could choose another one of several hosts than the server does. HTTP/1.0 has no `Host`, so there
/// it may be missing.
///
/// It stands between the HTTP decoder and the conversion to shared HTTP types, which keeps neither the version nor the number of
/// the `Host` headers. ``RequestPace`` behind it answers with 400 and closes the connection.
final class HostHeader: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// True after a request was rejected.
    ///
    /// Everything after its head is ignored.
    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        if case .head(let head) = unwrapInboundIn(data), !Self.isValid(head) {
            isRefused = true
            context.fireErrorCaught(InvalidHostHeader())
            return
        }
        context.fireChannelRead(data)
    }

    /// Returns true when the head of a request names one host, or none in HTTP/1.0.
    static func isValid(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["Host"]
        guard let host = hosts.first else { return head.version == .http1_0 }
        guard hosts.count == 1, HostPolicy.host(of: host[...]) != nil else { return false }
        // The absolute form of a target, which clients send to proxies, has a host of its own (RFC 9112 section 3.2.2).
        guard !head.uri.hasPrefix("/"), let scheme = head.uri.firstRange(of: "://") else { return true }
        let authority = head.uri[scheme.upperBound...].prefix { !"/?#".contains($0) }
        return authority.lowercased() == host.lowercased()
    }
}

@available(*, unavailable)
extension HostHeader: Sendable {}
