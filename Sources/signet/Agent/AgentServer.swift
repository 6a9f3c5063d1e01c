import AgentWire
import Foundation
import NIOCore
import NIOPosix
import SignetCore
import SignetStorage

/// Answers the requests that commands send to the agent, one for each connection.
///
/// It trusts no field of a request. A connection of another user's process is closed without an answer.
struct AgentServer: Sendable {
    let vault: AgentVault
    /// Asks the user for each use; nil to perform operations without asking.
    let confirmation: ProgramConfirmation?

    /// The number of connections that are served at the same time.
    private static let maxClients = 64
    /// The time for a client to send its request.
    private static let requestTimeout = TimeAmount.seconds(10)

    private typealias Client = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Serves clients until the task is canceled.
    /// - Parameter descriptor: The listening socket. It is closed at the end.
    func run(_ descriptor: Int32) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(descriptor) { channel in
                channel.eventLoop.makeCompletedFuture { try Client(wrappingChannelSynchronously: channel) }
            }
        let count = Mutex(0)
        try await server.executeThenClose { clients in
            try await withThrowingDiscardingTaskGroup { group in
                for try await client in clients {
                    let isFree = count.withLock { count in
                        count += 1
                        return count <= Self.maxClients
                    }
                    group.addTask {
                        await serve(client, isFree: isFree)
                        count.withLock { $0 -= 1 }
                    }
                }
            }
        }
    }

    private func serve(_ client: Client, isFree: Bool) async {
        let channel = client.channel
        let timeout = channel.eventLoop.scheduleTask(in: Self.requestTimeout) { channel.close(promise: nil) }
        defer { timeout.cancel() }
        // The client reports a connection that ends early; there is nothing to do here.
        try? await client.executeThenClose { inbound, outbound in
            guard await Self.isOwnUser(channel) else { return }
            var parts = inbound.makeAsyncIterator()
            guard let message = try await AgentRequestReader.message(from: &parts) else { return }
            timeout.cancel()
            let reply = isFree ? await reply(to: message.request) : .declined(.busy)
            try await outbound.write(ByteBuffer(bytes: reply.message.bytes))
        }
    }

    /// Returns true when the client is a process of this user.
    private static func isOwnUser(_ channel: any Channel) async -> Bool {
        #if os(Linux)
        guard let provider = channel as? any SocketOptionProvider else { return false }
        let credentials: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel.socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return (try? await credentials.get())?.user == getuid()
        #else
        // The directory of the socket keeps other users out.
        return true
        #endif
    }

    /// Returns the reply to a request; nil is a message of another format.
    private func reply(to request: AgentRequest?) async -> AgentReply {
        guard let request, request.version == AgentVersion.current else { return .declined(.otherVersion) }
        guard let directory = VaultDirectory(environment: request.home.environment), vault.directory.isSame(as: directory) else {
            return .declined(.otherVault)
        }
        do {
            if let result = try await AgentControl(vault: vault).result(of: request) { return .result(result) }
            guard let operation = AgentOperation(request) else { return .declined(.unsupported) }
            guard vault.isUnlocked else { return .declined(.locked) }
            if let use = operation.use { try await confirmation?.confirm(use) }
            // The vault may have been locked while the user was asked.
            guard let session = vault.sessionForUse() else { return .declined(.locked) }
            return try await perform(operation, in: session)
        } catch {
            return .failure(AgentFailure(Failure(error)))
        }
    }

    private func perform(_ operation: AgentOperation, in session: Session) async throws -> AgentReply {
        do {
            return .result(try await operation.perform(in: session))
        } catch let error as StoreError where error.code == .keyMismatch {
            // Another process has rotated the vault's key, so the vault must be opened again.
            vault.lock(.idle)
            return .declined(.locked)
        }
    }
}

extension AgentFailure {
    /// The failure of an operation, as a reply.
    fileprivate init(_ failure: Failure) {
        self.init(
            exit: failure.exit.rawValue, code: failure.code, message: TerminalText(failure.message).description,
            part: failure.part)
    }
}

extension VaultDirectory {
    /// Returns true when the other path leads to the same directory.
    fileprivate func isSame(as other: VaultDirectory) -> Bool {
        // A relative path means another directory to another process.
        guard path.hasPrefix("/"), other.path.hasPrefix("/") else { return false }
        if path == other.path { return true }
        return URL(filePath: path).resolvingSymlinksInPath() == URL(filePath: other.path).resolvingSymlinksInPath()
    }
}
