import Crypto
import SignetCore
import Synchronization

/// What this process knows of passwords and their hashes, so that the long work of scrypt is done once a password and never while
/// everybody else waits. Of a password it is only a digest with a key that nobody else has.
final class PasswordMemory: Sendable {
    /// Long work: what has to be known before a rule can come to an end.
    enum Work: Sendable {
        case check(Secret, PasswordHash)
        case make(Secret, owner: String)
    }

    private struct Book: Sendable {
        var verdicts: [[UInt8]: Bool] = [:]
        var hashes: [[UInt8]: PasswordHash] = [:]
        var worked = 0
    }

    /// The most verdicts that are kept. One more, and half of them are found out again.
    static let size = 20_000

    private let key = Secret.random(byteCount: 32)
    private let book = Mutex(Book())

    /// Whether a password has a hash; nil when it is not known.
    func verdict(_ password: Secret, _ hash: PasswordHash) -> Bool? {
        let digest = digest(password, hash.text)
        return book.withLock { $0.verdicts[digest] }
    }

    /// The hash that was made for a password of `owner`; nil when there is none.
    func hash(of password: Secret, for owner: String) -> PasswordHash? {
        let digest = digest(password, owner)
        return book.withLock { $0.hashes[digest] }
    }

    /// How often long work was done.
    var worked: Int { book.withLock { $0.worked } }

    /// The same for the same work.
    func digest(of work: Work) -> [UInt8] {
        switch work {
        case .check(let password, let hash): digest(password, hash.text)
        case .make(let password, let owner): digest(password, owner)
        }
    }

    /// Does the work, which takes long. When there is no memory for it nothing is known afterwards: that is no wrong password.
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
