import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The person's vault, opened for one run of a verb.
struct Session {
    let vault: Vault
    /// Who was asked for its key, and may be asked again.
    let protectors: KeyProtectors
    /// The file with the authorities that vouch for servers; nil for the system's.
    var authorityFile: String?
    private let clock = SystemWallClock()

    private init(vault: Vault, protectors: KeyProtectors, authorityFile: String?) {
        self.vault = vault
        self.protectors = protectors
        self.authorityFile = authorityFile
    }

    /// The usual place of the vault.
    static func directory() throws -> VaultDirectory {
        guard let directory = VaultDirectory(environment: ProcessInfo.processInfo.environment) else {
            throw Failure(.noVault, "noHome", "no place for a vault is known: set SIGNET_HOME")
        }
        return directory
    }

    /// Who can be asked for a vault's key.
    static func protectors(_ directory: VaultDirectory, _ options: VaultOptions?) -> KeyProtectors {
        KeyProtectors(
            directory: directory, environment: ProcessInfo.processInfo.environment,
            passphrase: options?.passphrase ?? PassphraseSource())
    }

    /// Opens the vault; creates nothing. The process has nothing else to do meanwhile, so it just waits.
    static func open(
        _ options: VaultOptions? = nil, trust: TrustOptions? = nil, acceptingRollback: Bool = false
    ) throws -> Session {
        let authorityFile = try trust?.authorityFile()
        let directory = try directory()
        let protectors = protectors(directory, options)
        let vault = try directory.openVault(protectors: protectors.all, acceptingRollback: acceptingRollback)
        return Session(vault: vault, protectors: protectors, authorityFile: authorityFile)
    }

    var now: Date { clock.now }

    /// Runs `body` with an authenticator that has no accounts and keeps none: for seeing what a verb would do to a new vault.
    static func imagined<R>(_ body: (Authenticator) async throws -> R) async throws -> R {
        try await body(
            Authenticator(
                store: AccountRecords(unsealed: MemoryStore()), transport: NoTransport(),
                device: PushDevice(token: "none", name: "none")))
    }

    /// Runs `body` with an authenticator that cannot reach the network; for verbs that do not need it.
    func offline<R>(_ body: (Authenticator) async throws -> R) async throws -> R {
        try await body(authenticator(NoTransport()))
    }

    /// Runs `body` with an authenticator that can reach servers.
    func online<R>(_ body: (Authenticator) async throws -> R) async throws -> R {
        try await AsyncHTTPTransport(authorities: .init(file: authorityFile)).use { transport in
            try await body(authenticator(transport))
        }
    }

    private func authenticator(_ transport: any HTTPTransport) -> Authenticator {
        // The vault's id is random and stays: good enough an address for a desktop.
        let device = PushDevice(token: "signet-\(vault.header.id)", name: Self.hostName, opensPushStream: true)
        return Authenticator(store: AccountRecords(vault), transport: transport, device: device, clock: clock)
    }

    /// This machine's name.
    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "Signet" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The transport of verbs that make no request.
struct NoTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.connect, host: "-", "this verb makes no request")
    }

    func stream(
        _ request: HTTPRequest, receive: @Sendable (_ piece: [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse {
        try await send(request)
    }
}
