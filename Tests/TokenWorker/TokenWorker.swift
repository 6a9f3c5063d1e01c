import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage

/// `TokenWorker COMMAND DIRECTORY SERVER`: a process that asks for tokens, which a test starts several times at once, or kills.
///
/// It begins when its input ends.
///
/// `ask` asks from 25 tasks at once and prints each token. `stall` asks once, prints `saving` when the new token is about to be
/// stored, and never stores it. `ask-bound` and `stall-bound` do the same with tokens that are bound to a key, and `ask-service` with
/// the tokens of a service.
@main
enum TokenWorker {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3, let command = arguments.first else { exit(64) }
        do {
            let rest = Array(arguments.dropFirst())
            try await run(command, directory: rest[0], server: rest[1])
        } catch {
            say("failed \(error)")
            exit(1)
        }
    }

    private static func run(_ command: String, directory: String, server: String) async throws {
        let vaultDirectory = VaultDirectory(path: directory)
        let keychain = VaultProvider { () throws(StoreError) in try vaultDirectory.openVault(timeout: 60) }
        let stalls = command.hasPrefix("stall")
        let store = try stalls ? stalling(keychain, directory) : sharing(keychain, directory)
        let transport = AsyncHTTPTransport()
        let tokens = try source(command, server, store, transport)
        _ = readLine()
        let outcome = await Result(of: { try await ask(tokens, times: stalls ? 1 : 25) })
        await transport.close()
        try outcome.get()
    }

    private static func source(
        _ command: String, _ server: String, _ store: SessionStore, _ transport: AsyncHTTPTransport
    ) throws -> TokenSource {
        let mode: DPoPMode = command.hasSuffix("-bound") ? .software : .none
        guard command == "ask-service" else {
            return TokenSource(
                OAuthEndpoints(session: "\(server)/sessions", discovery: "\(server)/.well-known/openid-configuration"),
                client: OAuthClient(clientID: "app", redirectURI: "http://127.0.0.1/cb", scopes: ["read"], dpop: mode),
                store: store, transport: transport)
        }
        let profile = try ServerProfile(url: server, endpoints: [.discovery: "\(server)/.well-known/openid-configuration"]) {
            $0.client = OAuthClient(
                service: "app", scopes: ["read"], authentication: .clientSecretPost(Secret("s3cret".utf8)), dpop: .software)
        }
        return try TokenSource(service: profile, store: store, transport: transport)
    }

    private static func ask(_ tokens: TokenSource, times: Int) async throws {
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<times { group.addTask { try await tokens.token().authorization } }
            for try await token in group { say(token) }
        }
    }

    private static func sharing(_ keychain: VaultProvider, _ directory: String) throws -> SessionStore {
        try .keychain(account: "test", in: keychain, lockFile: "\(directory)/session.lock")
    }

    private static func stalling(_ keychain: VaultProvider, _ directory: String) throws -> SessionStore {
        try SessionStore(
            tokens: StallingStorage(storage: KeychainStorage(account: "test/tokens", in: keychain)),
            session: KeychainStorage<SSOToken>(account: "test/session", in: keychain),
            cookies: KeychainStorage<CookieJar>(account: "test/cookies", in: keychain), lockFile: "\(directory)/session.lock")
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

/// Stores every value except a valid token, like a process that is killed before it stores the token.
private struct StallingStorage: Storage {
    let storage: KeychainStorage<AccessToken>

    func save(item: sending AccessToken) async throws {
        guard item.isExpired(at: Date()) else {
            FileHandle.standardOutput.write(Data("saving\n".utf8))
            try await Task.sleep(for: .seconds(600))
            return
        }
        try await storage.save(item: item)
    }

    func get() async throws -> AccessToken? { try await storage.get() }
    func delete() async throws { try await storage.delete() }
}
