import Crypto
import SignetCore
import Synchronization

/// A cache of password checks and password hashes. It makes sure that scrypt runs only once for each password, and never in the
/// transaction queue, where other transactions would have to wait. It does not store passwords but their HMACs, with a key that
/// exists only in this process.
final class PasswordMemory: Sendable {
    /// A slow computation with scrypt whose result a transaction needs. The transaction throws it, and runs again afterwards.
    enum Work: Error, Sendable {
        case check(Secret, PasswordHash)
        case make(Secret, owner: String)
    }

    private struct Book: Sendable {
        var verdicts: [[UInt8]: Bool] = [:]
        var hashes: [[UInt8]: PasswordHash] = [:]
        var worked = 0
    }

    /// The maximum number of verdicts, and of hashes. When it is reached, half of the verdicts or all hashes are discarded.
    static let size = 20_000

    private let key = Secret.random(byteCount: 32)
    private let book = Mutex(Book())

    /// Returns true if the password matches the hash, and false if it does not. It returns nil when the result is not in the
    /// cache.
    func verdict(_ password: Secret, _ hash: PasswordHash) -> Bool? {
        let digest = digest(password, hash.text)
        return book.withLock { $0.verdicts[digest] }
    }

    /// Returns the hash that was computed for a password of `owner`; nil when it is not in the cache.
    func hash(of password: Secret, for owner: String) -> PasswordHash? {
        let digest = digest(password, owner)
        return book.withLock { $0.hashes[digest] }
    }

    /// The number of scrypt computations so far.
    var worked: Int { book.withLock { $0.worked } }

    /// Returns a digest that identifies the work. Equal work has equal digests.
    func digest(of work: Work) -> [UInt8] {
        switch work {
        case .check(let password, let hash): digest(password, hash.text)
        case .make(let password, let owner): digest(password, owner)
        }
    }

    /// Runs the computation, which is slow. If there is not enough memory for scrypt, the cache does not get a result, so that
    /// the password does not count as wrong.
    func perform(_ work: Work) {
        switch work {
        case .check(let password, let hash):
            guard verdict(password, hash) == nil else { return }
            book.withLock { $0.worked += 1 }
            guard let verdict = hash.accepts(password) else { return }
            keep(verdict, password, hash)
        case .make(let password, let owner):
            guard self.hash(of: password, for: owner) == nil else { return }
            book.withLock { $0.worked += 1 }
            guard let hash = PasswordHash(of: password) else { return }
            keep(true, password, hash)
            let digest = digest(password, owner)
            book.withLock { book in
                if book.hashes.count >= Self.size { book.hashes = [:] }
                book.hashes[digest] = hash
            }
        }
    }

    private func keep(_ verdict: Bool, _ password: Secret, _ hash: PasswordHash) {
        let digest = digest(password, hash.text)
        book.withLock { book in
            if book.verdicts.count >= Self.size {
                for digest in Array(book.verdicts.keys.prefix(Self.size / 2)) { book.verdicts[digest] = nil }
            }
            book.verdicts[digest] = verdict
        }
    }

    private func digest(_ password: Secret, _ about: String) -> [UInt8] {
        var code = HMAC<SHA256>(key: key.key)
        code.update(data: Array("\(about.utf8.count) \(about)".utf8))
        password.withUnsafeBytes { code.update(data: $0) }
        return Array(code.finalize())
    }
}
