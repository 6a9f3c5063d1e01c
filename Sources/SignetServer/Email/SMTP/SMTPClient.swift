import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import SignetCore

/// The reason that an email was not delivered.
///
/// It contains no secrets.
struct SMTPFailure: Error, Sendable, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A small SMTP client (RFC 5321): it delivers one email over one connection.
struct SMTPClient: Sendable {
    /// The name by which the client introduces itself.
    static let name = "signet.localhost"

    let configuration: SMTPConfiguration

    /// Delivers an email.
    /// - Parameter email: The email.
    /// - Throws: ``SMTPFailure`` when the server cannot be reached, refuses the email, or does not answer in time;
    ///   `CancellationError`.
    func deliver(_ email: EmailDelivery) async throws {
        try Self.checkAddress(email.to)
        try Self.checkAddress(configuration.sender)
        let acceptance = Acceptance()
        let isDone: Void?
        do {
            isDone = try await withTimeout(
                .seconds(configuration.timeout), undoing: { _ in }, { try await connected(email, acceptance) })
        } catch  where acceptance.isAccepted.withLock({ $0 }) {
            // Only the end of the connection failed.
            return
        } catch let error as SMTPFailure {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw SMTPFailure("the connection to \(configuration.host), port \(configuration.port), failed: \(Self.words(error))")
        }
        guard isDone != nil || acceptance.isAccepted.withLock({ $0 }) else {
            throw SMTPFailure("\(configuration.host) did not accept the email within \(configuration.timeout) seconds")
        }
    }

    private static func words(_ error: any Error) -> String { String("\(error)".prefix(200)) }

    /// Rejects an address that could end the command in which it is sent.
    private static func checkAddress(_ address: String) throws(SMTPFailure) {
        guard address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }) else {
            throw SMTPFailure("the address has characters that the server cannot send")
        }
    }

    /// The state of a delivery: after the server has accepted the email, an error of the connection changes nothing.
    private final class Acceptance: Sendable {
        let isAccepted = Mutex(false)
    }

    private func connected(_ email: EmailDelivery, _ acceptance: Acceptance) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // A connection attempt cannot be canceled, and a server that shuts down waits for it.
            .connectTimeout(.seconds(Int64(min(configuration.timeout, 5))))
            .connect(host: configuration.host, port: configuration.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { inbound, outbound in
            var dialog = SMTPDialog(inbound.makeAsyncIterator(), outbound)
            try await run(&dialog, on: channel.channel, email)
            acceptance.isAccepted.withLock { $0 = true }
            try? await dialog.send("QUIT\r\n")
        }
    }

    private func run(_ dialog: inout SMTPDialog, on channel: any Channel, _ email: EmailDelivery) async throws {
        try await dialog.expect(220, after: "the connection")
        var extensions = try await dialog.hello()
        if configuration.security == .startTLS {
            guard extensions.contains("STARTTLS") else { throw SMTPFailure("\(configuration.host) does not offer STARTTLS") }
            try await dialog.command("STARTTLS", 220)
            // Bytes after the answer were sent by an attacker outside the encrypted connection.
            guard dialog.isEmpty else { throw SMTPFailure("\(configuration.host) sent data before the encryption began") }
            try await encrypt(channel)
            extensions = try await dialog.hello()
        }
        try await logIn(&dialog, extensions)
        try await dialog.command("MAIL FROM:<\(configuration.sender)>", 250)
        try await dialog.command("RCPT TO:<\(email.to)>", 250, 251)
        try await dialog.command("DATA", 354)
        try await dialog.send(SMTPMessage(email, from: configuration.sender).transparent)
        try await dialog.expect(250, after: "the message")
    }

    private func logIn(_ dialog: inout SMTPDialog, _ extensions: [String]) async throws {
        guard let username = configuration.username, let password = configuration.password else { return }
        guard configuration.security == .startTLS || EndpointPolicy.isLoopback(configuration.host) else {
            throw SMTPFailure("the password is not sent over a connection without encryption")
        }
        guard extensions.contains(where: { $0.hasPrefix("AUTH ") && $0.split(separator: " ").contains("PLAIN") }) else {
            throw SMTPFailure("\(configuration.host) does not offer the login PLAIN")
        }
        let proof = Base64.encode([0] + Array(username.utf8) + [0] + password.bytes, as: .standard)
        try await dialog.command("AUTH PLAIN \(proof)", named: "AUTH PLAIN", 235)
    }

    private func encrypt(_ channel: any Channel) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let authorities = configuration.authorities { tls.trustRoots = .file(authorities) }
        let context: NIOSSLContext
        do {
            context = try NIOSSLContext(configuration: tls)
        } catch {
            throw SMTPFailure("the certificates of the authorities cannot be read: \(Self.words(error))")
        }
        // An address is not sent as a server name (RFC 6066 section 3); the certificate is compared with it.
        let isAddress = (try? SocketAddress(ipAddress: configuration.host, port: 0)) != nil
        let name = isAddress ? nil : configuration.host
        try await channel.eventLoop.submit {
            let handler = try NIOSSLClientHandler(context: context, serverHostname: name)
            try channel.pipeline.syncOperations.addHandler(handler, position: .first)
        }.get()
    }
}

/// The commands and answers of one SMTP connection.
struct SMTPDialog {
    /// The maximum length of an answer, in bytes.
    private static let maxAnswer = 64 * 1024

    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    /// The received bytes that are not part of an answer yet.
    private var buffer = ByteBuffer()

    init(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        (self.inbound, self.outbound) = (inbound, outbound)
    }

    /// True when no bytes were received after the last answer.
    var isEmpty: Bool { buffer.readableBytes == 0 }

    func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

    /// Sends a command, and waits for one of the accepted answers.
    /// - Parameters:
    ///   - text: The command.
    ///   - name: The command in errors; nil for the text. A command with a secret needs a name.
    ///   - codes: The codes of the accepted answers.
    /// - Throws: The error of another answer, or of the connection.
    mutating func command(_ text: String, named name: String? = nil, _ codes: Int...) async throws {
        try await send(text + "\r\n")
        try await expect(codes, after: name ?? text)
    }

    mutating func expect(_ code: Int, after name: String) async throws { try await expect([code], after: name) }

    private mutating func expect(_ codes: [Int], after name: String) async throws {
        let (code, lines) = try await answer()
        guard codes.contains(code) else {
            throw SMTPFailure("the answer to \(name) was \(code) \(lines.joined(separator: " ").prefix(200))")
        }
    }

    /// Introduces the client, and returns the server's extensions in uppercase.
    mutating func hello() async throws -> [String] {
        try await send("EHLO \(SMTPClient.name)\r\n")
        let (code, lines) = try await answer()
        guard code == 250 else { throw SMTPFailure("the answer to EHLO was \(code) \(lines.joined(separator: " ").prefix(200))") }
        return lines.dropFirst().map { $0.uppercased() }
    }

    /// Reads an answer: its code and the texts of its lines (RFC 5321 section 4.2.1).
    private mutating func answer() async throws -> (code: Int, lines: [String]) {
        var lines: [String] = []
        var length = 0
        while true {
            let line = try await line()
            length += line.utf8.count
            guard let code = Int(line.prefix(3)), (200...599).contains(code), length <= Self.maxAnswer else {
                throw SMTPFailure("the server does not speak SMTP")
            }
            lines.append(String(line.dropFirst(4).filter { !$0.isNewline && $0 >= " " }))
            if line.dropFirst(3).first != "-" { return (code, lines) }
        }
    }

    private mutating func line() async throws -> String {
        while true {
            if let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")),
                let line = buffer.readString(length: end - buffer.readerIndex + 1)
            {
                // CR and LF are one character of Swift.
                return String(line.dropLast())
            }
            guard buffer.readableBytes <= Self.maxAnswer else { throw SMTPFailure("the server does not speak SMTP") }
            guard var more = try await inbound.next(isolation: #isolation) else {
                throw SMTPFailure("the server closed the connection")
            }
            buffer.writeBuffer(&more)
        }
    }
}
