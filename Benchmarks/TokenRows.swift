import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetStorage
import SignetTesting

/// A token that is good, asked for by one caller and by a thousand at once.
enum TokenRows {
    private static let callers = 1_000
    /// The most that a call may take, in microseconds.
    private static let limit = 5.0

    static func measure() async throws -> [Row] {
        let directory = FileManager.default.temporaryDirectory.path + "/signet-bench-tokens-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        // Shared with other processes, as an app's store is, so that each call also looks whether one of them has changed anything.
        let shared = try await source(lockFile: "\(directory)/tokens.lock")
        var own: [TokenSource] = []
        for _ in 0..<callers { own.append(try await source(lockFile: nil)) }
        return [try await single(shared), try await rush(try await source(lockFile: nil), own)]
    }

    private static func single(_ tokens: TokenSource) async throws -> Row {
        let call = Contender.asyncCalls("TokenSource.token") { _ in try await tokens.token().scope.utf8.count }
        // Beside itself: there is nothing that it could be compared with but its limit.
        let outcome = try await Race(ours: call, reference: call).run()
        return Row(
            name: "valid token, beside its limit", ratio: outcome.ours.value / limit, limit: .atMost(1), ours: outcome.ours,
            reference: Row.Figure(name: "the limit", value: limit, unit: "µs"))
    }

    private static func rush(_ shared: TokenSource, _ own: [TokenSource]) async throws -> Row {
        let ours = Contender.asyncCalls("\(callers) tasks, one TokenSource") { _ in try await ask { _ in shared } }
        let reference = Contender.asyncCalls("\(callers) tasks, one each") { _ in try await ask { own[$0] } }
        return Row(
            "valid token for \(callers) callers at once, beside one caller each",
            try await Race(ours: ours, reference: reference).run(), .atMost(2))
    }

    private static func ask(_ source: @escaping @Sendable (Int) -> TokenSource) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<callers { group.addTask { try await source(number).token().scope.utf8.count } }
            return try await group.reduce(0, +)
        }
    }

    /// A source with a token that is good for a day.
    private static func source(lockFile: String?) async throws -> TokenSource {
        let store = try SessionStore(
            tokens: MemoryStorage<AccessToken>(), session: MemoryStorage<SSOToken>(), cookies: MemoryStorage<CookieJar>(),
            lockFile: lockFile)
        let now = SystemWallClock().now
        try await store.save(
            AccessToken(
                value: Secret("eyJ0eXAiOiJKV1QiLCJ6aXAiOiJOT05FIn0".utf8), scope: "openid profile", issuedAt: now,
                expiresAt: now + 86_400))
        let profile = try ServerProfile(url: "http://127.0.0.1/am") {
            $0.client = OAuthClient(clientID: "bench", redirectURI: "https://app.example.com/cb", scopes: ["openid"])
        }
        let tokens = try TokenSource(profile, store: store, transport: ScriptedTransport { _ in HTTPResponse(status: 500) })
        _ = try await tokens.token()
        return tokens
    }
}
