import SignetCore
import SignetServer
import SignetStorage

/// The file with the users of a development server.
enum UserFile {
    private static let maxSize = 1 << 20

    /// Returns the users in the file at `path`.
    static func users(_ path: String) throws -> [User] {
        guard PrivateFile.exists(path) else { throw Failure(.notFound, "users", "\(path) does not exist") }
        let bytes = try PrivateFile.contents(of: path, limit: maxSize)
        guard let users = (try? JSON.decode([String: String].self, from: bytes)), !users.isEmpty else {
            throw Failure(.badInput, "users", "\(path) is not a JSON object of user names and passwords")
        }
        if let name = users.keys.sorted().first(where: { !$0.isUserName }) {
            throw Failure(
                .badInput, "users",
                "\(path) has the user name '\(name.escapedName)': names are not empty and have no slashes, spaces at their ends, "
                    + "control characters, text direction marks or invisible characters")
        }
        return users.sorted { $0.key < $1.key }.map { User(name: $0.key, password: Secret($0.value.utf8)) }
    }
}
