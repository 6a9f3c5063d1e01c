import NIOCore
import NIOHTTP1
import NIOPosix
package import SignetCore

/// A loopback port that accepts one request of a browser: either the redirect of a login (RFC 8252 section 7.3), or a visit that
/// is redirected to another address.
package final class LoopbackListener: Sendable {
    /// The listener cannot use the redirect address.
    package struct InvalidAddress: Error, Sendable, Hashable {
        package let reason: String
    }

    /// The redirect address, with the port that is open.
    package let redirectURI: String
    private let channel: any Channel
    private let receiver: RedirectReceiver

    /// Opens a free port that redirects a browser to another address.
    ///
    /// It redirects one request, which must have the right random path. On Linux it must also come from a process of the same
    /// user or the superuser, because the path may be in the arguments of a process, which all users can read.
    /// - Throws: ``InvalidAddress`` if no port can be opened.
    package static func sendingOn(to target: Secret) async throws -> LoopbackListener {
        try await listening(at: "http://127.0.0.1/\(RandomID.uuid())", sendingOnTo: target)
    }

    /// Opens the port of a redirect address, or a free port if the address has no port.
    /// - Parameters:
    ///   - redirectURI: The redirect address, on the loopback interface.
    ///   - target: The address to which the browser is redirected; nil to show it a page.
    /// - Returns: The open listener, with the port that it has.
    /// - Throws: ``InvalidAddress`` if the address isn't HTTP on the loopback interface, or its port cannot be opened.
    package static func listening(
        at redirectURI: String, sendingOnTo target: Secret? = nil
    ) async throws -> LoopbackListener {
        guard let endpoint = try? Endpoint(redirectURI), endpoint.scheme == "http", EndpointPolicy.isLoopback(endpoint.host)
        else {
            throw InvalidAddress(reason: "the redirect address must be http on the loopback, such as http://127.0.0.1/callback")
        }
        let afterScheme = redirectURI.dropFirst("http://".count)
        let authority = afterScheme.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let namesPort = authority.split(separator: "]").last?.contains(":") ?? false
        let port = namesPort ? endpoint.port : 0
        let rest = afterScheme.dropFirst(authority.count)
        let path = rest.isEmpty ? "/" : String(rest.prefix { $0 != "?" && $0 != "#" })
        let host = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
        let address = LoopbackConnection.Address(host: host, path: path, target: target)
        let receiver = RedirectReceiver()
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        try channel.pipeline.syncOperations.addHandler(LoopbackConnection(address, receiver: receiver))
                    }
                }
                // The name `localhost` isn't resolved, because it could resolve to another machine.
                .bind(host: endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host, port: port).get()
            return LoopbackListener(
                channel: channel, receiver: receiver,
                redirectURI: "http://\(host):\(channel.localAddress?.port ?? port)\(rest)")
        } catch {
            throw InvalidAddress(reason: "port \(port) of \(endpoint.host) cannot be opened; is another login under way?")
        }
    }

    private init(channel: any Channel, receiver: RedirectReceiver, redirectURI: String) {
        self.channel = channel
        self.receiver = receiver
        self.redirectURI = redirectURI
    }

    /// Runs `open`, which starts the browser, and returns the query of the first accepted request to the redirect address.
    ///
    /// Closes the port afterwards, also when an error is thrown.
    /// - Throws: ``RedirectReceiver/Failure``, and any error of `open`.
    package func answer(
        within timeout: Duration, accepting isExpected: @escaping @Sendable (_ query: String) -> Bool,
        whileOpening open: @escaping @Sendable () async throws -> Void
    ) async throws -> String {
        let outcome = await Result(of: { try await receiver.answer(within: timeout, accepting: isExpected, whileOpening: open) })
        try? await channel.close().get()
        return try outcome.get()
    }
}

/// One connection to the port, from a browser or another local process.
private final class LoopbackConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The request that the listener expects.
    struct Address: Sendable {
        let host: String
        let path: String
        /// The address for the redirect; nil when the request itself carries the login's answer.
        let target: Secret?
    }

    private let address: Address
    private let receiver: RedirectReceiver
    private var head: HTTPRequestHead?

    init(_ address: Address, receiver: RedirectReceiver) {
        self.address = address
        self.receiver = receiver
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end:
            guard let head else { return }
            self.head = nil
            answer(head, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        // Guards against DNS rebinding: a page whose own name resolves to this machine sends that name in `Host`.
        let host = head.headers["host"].first?.lowercased()
        let port = context.channel.localAddress?.port ?? 0
        let isHere = host == "\(address.host):\(port)" || port == 80 && host == address.host
        let query = parts.count > 1 ? String(parts[1]) : ""
        let (status, text): (HTTPResponseStatus, String)
        var isTaken = false
        if head.method != .GET {
            (status, text) = (.methodNotAllowed, "Only a browser that comes back from a login is expected here.")
        } else if !isHere || parts[0] != address.path {
            (status, text) = (.notFound, "There is nothing here.")
        } else if !LocalPeer.of(context.channel).isAccepted(isConfidential: address.target != nil) {
            (status, text) = (.forbidden, "This page is for the user whose program waits for it.")
        } else if receiver.take(query) {
            isTaken = true
            (status, text) =
                address.target == nil
                ? (.ok, "The answer is on its way to the program. You can close this window.")
                : (.seeOther, "This goes on at the server.")
        } else if address.target != nil {
            (status, text) = (.gone, "This page was opened once already, and is no more.")
        } else {
            (status, text) = (.badRequest, "This is not the login that the program waits for. You can close this window.")
        }
        var body = context.channel.allocator.buffer(capacity: 512)
        body.writeString(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Login</title><p>\(text)</p></html>\n")
        var response = HTTPResponseHead(version: .http1_1, status: status)
        response.headers = [
            "Content-Type": "text/html; charset=utf-8", "Content-Length": "\(body.readableBytes)", "Connection": "close",
            // The address of this page contains the authorization code.
            "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": "default-src 'none'",
        ]
        if status == .seeOther, let target = address.target { response.headers.add(name: "Location", value: target.text) }
        context.write(wrapOutboundOut(.head(response)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { [receiver, isTaken] _ in
            if isTaken { receiver.deliver(query) }
            channel.close(promise: nil)
        }
    }
}
