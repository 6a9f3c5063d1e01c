import NIOCore
import NIOHTTP1
import NIOPosix
package import SignetCore

/// A loopback port that accepts one request of a browser: either the answer of a server (RFC 8252 section 7.3), or a visit that is
/// redirected to another address.
///
/// A server answers with a redirect, whose query is the answer, or with a form that the browser posts (OAuth 2.0 Form Post Response
/// Mode section 2).
package final class LoopbackListener: Sendable {
    /// The listener cannot use the redirect address.
    package struct InvalidAddress: Error, Sendable, Hashable {
        package let reason: String
    }

    /// The redirect address, with the port that is open.
    package let redirectURI: String
    private let channel: any Channel
    private let receiver: RedirectReceiver

    /// The number of answers that were refused because they are not the expected one.
    package var refusedCount: Int { receiver.refusedCount }

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
    ///   - title: The title of that page.
    /// - Returns: The open listener, with the port that it has.
    /// - Throws: ``InvalidAddress`` if the address isn't HTTP on the loopback interface, or its port cannot be opened.
    package static func listening(
        at redirectURI: String, sendingOnTo target: Secret? = nil, title: String = "Login"
    ) async throws -> LoopbackListener {
        guard let endpoint = loopback(redirectURI) else {
            throw InvalidAddress(reason: "the redirect address must be http on the loopback, such as http://127.0.0.1/callback")
        }
        let afterScheme = redirectURI.dropFirst("http://".count)
        let authority = afterScheme.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let namesPort = authority.split(separator: "]").last?.contains(":") ?? false
        let port = namesPort ? endpoint.port : 0
        let rest = afterScheme.dropFirst(authority.count)
        let path = rest.isEmpty ? "/" : String(rest.prefix { $0 != "?" && $0 != "#" })
        let host = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
        let address = LoopbackConnection.Address(host: host, path: path, target: target, title: title)
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
            throw InvalidAddress(
                reason: "port \(port) of \(endpoint.host) cannot be opened; is another login or logout under way?")
        }
    }

    /// Returns true if a listener can receive answers at a redirect address: at `http` on the loopback interface.
    package static func canListen(at redirectURI: String) -> Bool { loopback(redirectURI) != nil }

    private static func loopback(_ redirectURI: String) -> Endpoint? {
        guard let endpoint = try? Endpoint(redirectURI), endpoint.scheme == "http", EndpointPolicy.isLoopback(endpoint.host)
        else { return nil }
        return endpoint
    }

    private init(channel: any Channel, receiver: RedirectReceiver, redirectURI: String) {
        self.channel = channel
        self.receiver = receiver
        self.redirectURI = redirectURI
    }

    /// Runs `open`, which starts the browser, and returns the first accepted answer: the query of the redirect address, or the form
    /// that was posted there.
    ///
    /// Closes the port afterwards, also when an error is thrown.
    /// - Throws: ``RedirectReceiver/Failure``, and any error of `open`.
    package func answer(
        within timeout: Duration, on clock: any Clock<Duration> = ContinuousClock(),
        accepting isExpected: @escaping @Sendable (_ query: String) -> Bool,
        whileOpening open: @escaping @Sendable () async throws -> Void
    ) async throws -> String {
        let outcome = await Result(of: {
            try await receiver.answer(within: timeout, on: clock, accepting: isExpected, whileOpening: open)
        })
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
        /// The address for the redirect; nil when the request itself carries the answer of a server.
        let target: Secret?
        /// The title of the page.
        let title: String
    }

    /// The length up to which a posted form is kept.
    ///
    /// An answer has a code, a state and an issuer, and an `id_token` at most.
    private static let maxLength = 64 << 10

    private let address: Address
    private let receiver: RedirectReceiver
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var length = 0

    init(_ address: Address, receiver: RedirectReceiver) {
        self.address = address
        self.receiver = receiver
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = ByteBuffer()
            length = 0
        case .body(var part):
            length += part.readableBytes
            if length <= Self.maxLength {
                body.writeBuffer(&part)
            } else if length > 16 * Self.maxLength {
                // A little more than the limit is read and dropped, so that the browser gets the response.
                head = nil
                context.close(promise: nil)
            }
        case .end:
            guard let head else { return }
            self.head = nil
            answer(head, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// The response to a request.
    private struct Reply {
        let status: HTTPResponseStatus
        let text: String
        /// The accepted answer; nil when the request was refused.
        var answer: String?
    }

    private func reply(to head: HTTPRequestHead, _ context: ChannelHandlerContext) -> Reply {
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        // Guards against DNS rebinding: a page whose own name resolves to this machine sends that name in `Host`.
        let host = head.headers["host"].first?.lowercased()
        let port = context.channel.localAddress?.port ?? 0
        let isHere = host == "\(address.host):\(port)" || port == 80 && host == address.host
        let isPosted = head.method == .POST && address.target == nil
        guard head.method == .GET || isPosted else {
            return Reply(status: .methodNotAllowed, text: "Only a browser that comes back from a server is expected here.")
        }
        guard isHere, parts[0] == address.path else { return Reply(status: .notFound, text: "There is nothing here.") }
        guard LocalPeer.of(context.channel).isAccepted(isConfidential: address.target != nil) else {
            return Reply(status: .forbidden, text: "This page is for the user whose program waits for it.")
        }
        // The page that posts a form is one of the server, so `Origin` names another server than this one, or none.
        let query = parts.count > 1 ? String(parts[1]) : ""
        let received: String? = isPosted ? form(of: head) : query
        // A visit that is redirected to another address carries no answer.
        guard let answer = received, address.target != nil || Self.isReadable(answer) else {
            receiver.refuse()
            return length > Self.maxLength
                ? Reply(status: .payloadTooLarge, text: "This answer is too long.")
                : Reply(status: .badRequest, text: "This answer cannot be read. You can close this window.")
        }
        if receiver.take(answer) {
            return address.target == nil
                ? Reply(
                    status: .ok, text: "The answer is on its way to the program. You can close this window.", answer: answer)
                : Reply(status: .seeOther, text: "This goes on at the server.", answer: answer)
        }
        return address.target == nil
            ? Reply(
                status: .badRequest, text: "This is not the answer that the program waits for. You can close this window.")
            : Reply(status: .gone, text: "This page was opened once already, and is no more.")
    }

    /// Returns true when an answer can be read, and has each parameter once.
    ///
    /// Any program on this machine and any page can send another answer, so that one doesn't end the wait.
    private static func isReadable(_ answer: String) -> Bool { (try? AuthorizationResponse.fields(of: answer)) != nil }

    /// Returns the posted form, which has the syntax of a query; nil when the body isn't a form of visible ASCII characters.
    private func form(of head: HTTPRequestHead) -> String? {
        let types = head.headers["content-type"]
        let type = types.first?.prefix { $0 != ";" } ?? ""
        guard types.count == 1, type.trimmingWhitespace().lowercased() == "application/x-www-form-urlencoded",
            length <= Self.maxLength, body.readableBytesView.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return String(decoding: body.readableBytesView, as: UTF8.self)
    }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let reply = reply(to: head, context)
        var page = context.channel.allocator.buffer(capacity: 512)
        page.writeString(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>\(address.title)</title><p>\(reply.text)</p></html>\n"
        )
        var response = HTTPResponseHead(version: .http1_1, status: reply.status)
        response.headers = [
            "Content-Type": "text/html; charset=utf-8", "Content-Length": "\(page.readableBytes)", "Connection": "close",
            // The address of this page contains the authorization code.
            "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": "default-src 'none'",
        ]
        if reply.status == .seeOther, let target = address.target { response.headers.add(name: "Location", value: target.text) }
        context.write(wrapOutboundOut(.head(response)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(page))), promise: nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { [receiver, answer = reply.answer] _ in
            if let answer { receiver.deliver(answer) }
            channel.close(promise: nil)
        }
    }
}
