import SignetCore
import SignetStorage

/// The users of a desk server.
enum UserFile {
    /// A user, with the password in clear only when it was made up here and must be told.
    struct Entry {
        let name: String
        let password: Secret
        var madeUpPassword: String?
    }

    private static let largest = 1 << 20

    /// The users in the file at `path`; without a path one user, `demo`, with a new random password.
    static func users(_ path: String?) throws -> [Entry] {
        guard let path else {
            let password = Secret.random(byteCount: 10).withUnsafeBytes { Base32.encode($0).lowercased() }
            return [Entry(name: "demo", password: Secret(password.utf8), madeUpPassword: password)]
        }
        guard PrivateFile.exists(path) else { throw Failure(.notFound, "users", "\(path) does not exist") }
        let bytes = try PrivateFile.contents(of: path, limit: largest)
        guard let users = (try? JSON.decode([String: String].self, from: bytes)), !users.isEmpty else {
            throw Failure(.badInput, "users", "\(path) is not a JSON object of user names and passwords")
        }
        return users.sorted { $0.key < $1.key }.map { Entry(name: $0.key, password: Secret($0.value.utf8)) }
    }
}
