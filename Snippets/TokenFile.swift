// A store of the app's own for its tokens: three methods over whatever the app has.
import Foundation
import SignetCore
import SignetOAuth
import SignetStorage

struct TokenFile: Storage {
    let path: String

    func save(item: sending AccessToken) async throws {
        // The JSON has the tokens in the clear: to protect the file is the app's part.
        let json = try JSONEncoder().encode(item)
        guard FileManager.default.createFile(atPath: path, contents: json, attributes: [.posixPermissions: 0o600]) else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    func get() async throws -> AccessToken? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try JSONDecoder().decode(AccessToken.self, from: Data(contentsOf: URL(filePath: path)))
    }

    func delete() async throws {
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }
}

// snippet.hide
func storeWithTokenFile() throws -> SessionStore {
    // snippet.show
    try SessionStore(
        tokens: TokenFile(path: "/run/user/1000/app/tokens.json"),
        session: KeychainStorage<SSOToken>(account: "com.example.app/session"),
        cookies: MemoryStorage<CookieJar>(), lockFile: "/run/user/1000/app/tokens.lock")
    // snippet.hide
}
