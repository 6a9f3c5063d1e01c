import Crypto
import SignetCore

/// A cache of password checks and password hashes.
///
/// It makes sure that scrypt runs only once for each password, and never in the transaction queue, where other transactions would
/// have to wait. It does not store passwords but their HMACs, with a key that exists only in this process.
final class PasswordMemory: Sendable {
    /// A slow computation with scrypt whose result a transaction needs.
    ///
    /// The transaction throws it, and runs again afterwards.
    enum Work: Error, Sendable {
        case check(Secret, PasswordHash)
        case make(Secret, owner: String)
    }

    private struct State: Sendable {
        var results: [[UInt8]: Bool] = [:]
        var hashes: [[UInt8]: PasswordHash] = [:]
        var computations = 0
    }

    /// The maximum number of results, and of hashes.
    ///
    /// When it is reached, half of the results or all hashes are discarded.
    static let size = 20_000

    private let key = Secret.random(byteCount: 32)
    private let state = Mutex(State())

    /// Returns true if the password matches the hash, and false if it does not.
    ///
    /// It returns nil when the result is not in the cache.
    func cachedResult(_ password: Secret, _ hash: PasswordHash) -> Bool? {
        let digest = digest(password, hash.text)
        return state.withLock { $0.results[digest] }
    }

    /// Returns the hash that was computed for a password of `owner`; nil when it is not in the cache.
    func hash(of password: Secret, for owner: String) -> PasswordHash? {
        let digest = digest(password, owner)
        return state.withLock { $0.hashes[digest] }
    }

    /// The number of scrypt computations so far.
    var computations: Int { state.withLock { $0.computations } }

    /// Returns a digest that identifies the work.
    ///
    /// Equal work has equal digests.
    func digest(of work: Work) -> [UInt8] {
        switch work {
        case .check(let password, let hash): digest(password, hash.text)
        case .make(let password, let owner): digest(password, owner)
        }
    }

    /// Runs the computation, which is slow.
    ///
    /// If there is not enough memory for scrypt, the cache does not get a result, so that the password does not count as wrong.
    func perform(_ work: Work) {
        switch work {
        case .check(let password, let hash):
            guard cachedResult(password, hash) == nil else { return }
            state.withLock { $0.computations += 1 }
            guard let result = hash.accepts(password) else { return }
            keep(result, password, hash)
        case .make(let password, let owner):
            guard self.hash(of: password, for: owner) == nil else { return }
            state.withLock { $0.computations += 1 }
            guard let hash = PasswordHash(of: password) else { return }
            keep(true, password, hash)
            let digest = digest(password, owner)
            state.withLock { state in
                if state.hashes.count >= Self.size { state.hashes = [:] }
                state.hashes[digest] = hash
            }
        }
    }

    private func keep(_ result: Bool, _ password: Secret, _ hash: PasswordHash) {
        let digest = digest(password, hash.text)
        state.withLock { state in
            if state.results.count >= Self.size {
                for digest in Array(state.results.keys.prefix(Self.size / 2)) { state.results[digest] = nil }
            }
            state.results[digest] = result
        }
    }

    private func digest(_ password: Secret, _ about: String) -> [UInt8] {
        var code = HMAC<SHA256>(key: key.key)
        code.update(data: Array("\(about.utf8.count) \(about)".utf8))
        password.withUnsafeBytes { code.update(data: $0) }
        return Array(code.finalize())
    }
}
