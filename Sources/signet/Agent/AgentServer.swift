import AgentWire
import Foundation
import NIOCore
import NIOPosix
import SignetCore
import SignetStorage

/// Answers the requests that commands send to the agent: one for each connection, or those of a view one after the other.
///
/// It trusts no field of a request. A connection of another user's process is closed without an answer.
struct AgentServer: Sendable {
    let vault: AgentVault
    /// Asks the user for each use; nil to perform operations without asking.
    let confirmation: ProgramConfirmation?
    /// The variables of the agent, which name the system bus.
    let environment: [String: String]
    /// The notifications of the desktop; nil without them.
    let notices: AgentNotices?

    /// The number of connections that are served at the same time.
    private static let maxClients = 64
    /// The time for a client to send its request.
    private static let requestTimeout = TimeAmount.seconds(10)

    /// The time after which a view that asks for nothing, because its codes are hidden, loses its connection and its consent.
    private static let viewTimeout = TimeAmount.minutes(10)

    private typealias Client = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Serves clients until the task is canceled.
    /// - Parameter descriptor: The listening socket. It is closed at the end.
    /// - Throws: An error of the system; `CancellationError`.
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
        var timeout = Self.closing(channel, after: Self.requestTimeout)
        defer { timeout.cancel() }
        // The client reports a connection that ends early; there is nothing to do here.
        try? await client.executeThenClose { inbound, outbound in
            guard let credentials = await Self.credentials(of: channel), credentials.user == getuid() else { return }
            // As early as possible, while the process is certainly the one that has connected.
            var connection = Connection(peer: AgentPeer(credentials))
            var parts = inbound.makeAsyncIterator()
            while let message = try await AgentRequestReader.message(from: &parts) {
                timeout.cancel()
                let reply = isFree ? await reply(to: message.request, over: &connection) : .declined(.busy)
                try await outbound.write(ByteBuffer(bytes: reply.message.bytes))
                guard connection.isOfView else { return }
                timeout = Self.closing(channel, after: Self.viewTimeout)
            }
        }
    }

    /// Closes a connection after a time, unless the returned task is canceled before.
    private static func closing(_ channel: any Channel, after time: TimeAmount) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    /// Returns the process and the user of the client; nil when the system does not tell.
    private static func credentials(of channel: any Channel) async -> PeerCredentials? {
        #if os(Linux)
        guard let provider = channel as? any SocketOptionProvider else { return nil }
        let credentials: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel.socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return try? await credentials.get()
        #else
        // The directory of the socket keeps other users out.
        var credentials = PeerCredentials()
        credentials.user = getuid()
        return credentials
        #endif
    }

    /// A connection with one client.
    private struct Connection {
        /// The process of the client; nil when it has ended.
        let peer: AgentPeer?
        /// True when the connection stays open after the reply.
        var isOfView = false
        /// The unlocked vault for which the user has consented to all requests of a view; nil before, and after it was locked.
        private weak var allowedVault: Vault?

        init(peer: AgentPeer?) { self.peer = peer }

        /// Returns true when the user has consented to the view, and the vault was not locked since.
        func allowsView(of session: Session?) -> Bool { allowedVault != nil && allowedVault === session?.vault }

        /// Notes the consent of the user to a view.
        mutating func allowView(of session: Session) { allowedVault = session.vault }
    }

    /// Returns the reply to a request; nil is a message of another format.
    private func reply(to request: AgentRequest?, over connection: inout Connection) async -> AgentReply {
        connection.isOfView = false
        guard let request, request.version == AgentVersion.current else { return .declined(.otherVersion) }
        guard let directory = VaultDirectory(environment: request.home.environment), vault.directory.isSame(as: directory) else {
            return .declined(.otherVault)
        }
        vault.lockUnlessCurrent()
        do {
            if let result = try await AgentControl(vault: vault).result(of: request) { return .result(result) }
            guard let operation = AgentOperation(request) else { return .declined(.unsupported) }
            return try await reply(to: operation, over: &connection)
        } catch {
            return .failure(AgentFailure(Failure(error)))
        }
    }

    private func reply(to operation: AgentOperation, over connection: inout Connection) async throws -> AgentReply {
        do {
            return try await perform(operation, over: &connection)
        } catch let error as StoreError where error.code == .keyMismatch {
            // Another process has rotated the vault's key, so the vault must be opened again.
            vault.lock(.idle)
            return .declined(.locked)
        } catch is AgentOperation.Late {
            return .declined(.late)
        }
    }

    /// Performs an operation, after the consent of the user if the agent asks for it.
    private func perform(_ operation: AgentOperation, over connection: inout Connection) async throws -> AgentReply {
        guard vault.isUnlocked else { return .declined(.locked) }
        if operation.isAtOnce {
            guard confirmation == nil else { return .declined(.asks) }
            guard operation.deadline?.isOver == false else { return .declined(.late) }
        }
        var operation = operation
        let isAllowed = operation.isOfView && connection.allowsView(of: vault.session)
        if let confirmation, operation.isAskedFor, !isAllowed {
            guard let question = try await question(for: operation) else { return .declined(.locked) }
            try await confirmation.confirm(question.text)
            operation = operation.allowed(by: question)
        }
        // The vault may have been locked while the user was asked.
        guard let session = vault.sessionForUse() else { return .declined(.locked) }
        if operation.isOfView {
            connection.allowView(of: session)
            connection.isOfView = true
        }
        let presence = ClientPresence(environment: environment, client: connection.peer)
        let result = try await operation.perform(in: session, presence: presence)
        if let notices, let id = operation.answeredID {
            // In a task of its own, because the client does not wait for the desktop.
            Task { await notices.close(id) }
        }
        return .result(result)
    }

    /// Returns the question for an operation; nil when the vault is locked.
    ///
    /// The caller does not have the unlocked vault, so that its keys leave the memory when it is locked while the user is asked.
    private func question(for operation: AgentOperation) async throws -> AgentQuestion? {
        guard let session = vault.session else { return nil }
        return try await operation.question(in: session)
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
