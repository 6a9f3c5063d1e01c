import NIOCore
import NIOPosix
import NIOSSL
import SignetCore

/// An SMTP server on the loopback interface that keeps the emails that it accepts.
package final class SMTPSink: Sendable {
    /// The behavior of the server.
    package struct Behavior: Sendable {
        /// The certificate for STARTTLS; nil when the server does not offer it.
        package var identity: TestAuthority.Identity?
        /// The name and the password of the login PLAIN; nil when the server offers none.
        package var login: (name: String, password: String)?
        /// The recipients that the server refuses.
        package var refused: Set<String> = []
        /// True when the server never answers.
        package var isSilent = false
        /// The text after the answer to STARTTLS, as an attacker in the middle sends it.
        package var injected = ""
        /// The lines of the greeting.
        package var greeting = "220-sink\r\n220 ready\r\n"

        package init(_ configure: (inout Behavior) -> Void = { _ in }) { configure(&self) }
    }

    /// An email as it was received.
    package struct Message: Sendable, Hashable {
        package var sender = ""
        package var recipients: [String] = []
        /// The lines of the message, without doubled dots.
        package var lines: [String] = []
        package var isEncrypted = false
        /// The proof of the login, in Base64; nil without one.
        package var login: String?

        /// Returns the value of a header field, with its continuation lines.
        package func header(_ name: String) -> String? {
            guard let index = lines.firstIndex(where: { $0.lowercased().hasPrefix("\(name.lowercased()): ") }) else { return nil }
            let rest = lines[(index + 1)...].prefix { $0.hasPrefix(" ") }
            return ([String(lines[index].dropFirst(name.count + 2))] + rest.map { String($0.dropFirst()) }).joined(separator: " ")
        }

        /// Returns the decoded part of a content type.
        package func part(_ type: String) -> String? {
            guard let start = lines.firstIndex(where: { $0.hasPrefix("Content-Type: \(type);") }),
                let blank = lines[start...].firstIndex(of: "")
            else { return nil }
            let base64 = lines[(blank + 1)...].prefix { !$0.hasPrefix("--") }.joined()
            return (try? Base64.decode(base64)).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    package let port: Int
    private let channel: any Channel
    private let received: Received

    fileprivate final class Received: Sendable {
        let messages = Mutex<[Message]>([])
    }

    package static func with<R>(_ behavior: Behavior = Behavior(), _ body: (SMTPSink) async throws -> R) async throws -> R {
        let sink = try await SMTPSink(behavior)
        do {
            let result = try await body(sink)
            try? await sink.channel.close()
            return result
        } catch {
            try? await sink.channel.close()
            throw error
        }
    }

    private init(_ behavior: Behavior) async throws {
        var tls: NIOSSLContext?
        if let identity = behavior.identity {
            let certificates = try NIOSSLCertificate.fromPEMBytes(Array(identity.certificate.utf8))
            let key = try NIOSSLPrivateKey(bytes: Array(identity.key.utf8), format: .pem)
            tls = try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key)))
        }
        let (received, context) = (Received(), tls)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        SMTPSession(behavior: behavior, context: context, received: received))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        self.received = received
        port = channel.localAddress?.port ?? 0
    }

    /// The emails that the server has accepted.
    package var messages: [Message] { received.messages.withLock { $0 } }
}

/// One connection of an ``SMTPSink``.
private final class SMTPSession: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let behavior: SMTPSink.Behavior
    private let context: NIOSSLContext?
    private let received: SMTPSink.Received
    private var buffer = ByteBuffer()
    private var message = SMTPSink.Message()
    private var isEncrypted = false
    private var login: String?
    private var isData = false

    init(behavior: SMTPSink.Behavior, context: NIOSSLContext?, received: SMTPSink.Received) {
        (self.behavior, self.context, self.received) = (behavior, context, received)
    }

    func channelActive(context: ChannelHandlerContext) {
        if !behavior.isSilent { send(behavior.greeting, context) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        buffer.writeBuffer(&bytes)
        while let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")),
            let text = buffer.readString(length: end - buffer.readerIndex + 1)
        {
            line(String(text.dropLast()), context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func send(_ text: String, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }

    private func line(_ line: String, _ context: ChannelHandlerContext) {
        guard !behavior.isSilent else { return }
        guard !isData else { return content(line, context) }
        let command = line.prefix { $0 != " " && $0 != ":" }.uppercased()
        switch command {
        case "EHLO": hello(context)
        case "STARTTLS": encrypt(context)
        case "AUTH": authenticate(line, context)
        case "MAIL":
            message = SMTPSink.Message(sender: Self.address(line), isEncrypted: isEncrypted, login: login)
            send("250 ok\r\n", context)
        case "RCPT":
            let address = Self.address(line)
            guard !behavior.refused.contains(address) else { return send("550 5.1.1 no such mailbox\r\n", context) }
            message.recipients.append(address)
            send("250 ok\r\n", context)
        case "DATA":
            isData = true
            send("354 go on\r\n", context)
        case "QUIT":
            send("221 bye\r\n", context)
            context.close(promise: nil)
        default: send("502 no\r\n", context)
        }
    }

    private static func address(_ line: String) -> String { String(line.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" }) }

    private func hello(_ context: ChannelHandlerContext) {
        var lines = ["sink", "8BITMIME"]
        if self.context != nil, !isEncrypted { lines.append("STARTTLS") }
        if behavior.login != nil { lines.append("AUTH LOGIN PLAIN") }
        let text = lines.enumerated().map { "250\($0.offset == lines.count - 1 ? " " : "-")\($0.element)\r\n" }.joined()
        send(text, context)
    }

    private func encrypt(_ context: ChannelHandlerContext) {
        guard let tls = self.context, !isEncrypted else { return send("502 no\r\n", context) }
        send("220 ready\r\n" + behavior.injected, context)
        isEncrypted = true
        try? context.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls), position: .first)
    }

    private func authenticate(_ line: String, _ context: ChannelHandlerContext) {
        let proof = String(line.split(separator: " ").last ?? "")
        let expected = behavior.login.map { Base64.encode(Array("\0\($0.name)\0\($0.password)".utf8), as: .standard) }
        guard proof == expected else { return send("535 5.7.8 wrong name or password\r\n", context) }
        login = proof
        send("235 ok\r\n", context)
    }

    private func content(_ line: String, _ context: ChannelHandlerContext) {
        guard line == "." else {
            message.lines.append(line.hasPrefix(".") ? String(line.dropFirst()) : line)
            return
        }
        isData = false
        let message = message
        received.messages.withLock { $0.append(message) }
        send("250 ok\r\n", context)
    }
}
