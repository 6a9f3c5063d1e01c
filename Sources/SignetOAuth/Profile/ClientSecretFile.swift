import Foundation
package import SignetCore
package import SignetStorage

/// A file that contains the secret of an OAuth 2.0 client, and nothing else.
package enum ClientSecretFile {
    /// The maximum size of the file, in bytes.
    package static let maxSize = 1024

    /// Reads the secret in a file of mode 0600 that belongs to this user.
    /// - Throws: `StoreError` when the file can't be read, other users can access it, it is a link, or its content isn't a secret.
    package static func secret(at path: String) throws(StoreError) -> Secret {
        try secret(in: PrivateFile.contents(of: path, limit: maxSize), of: path)
    }

    /// Returns the secret in the content of a file: one line of text in UTF-8, without its line ending.
    /// - Parameters:
    ///   - bytes: The content.
    ///   - name: The name of the file, for the error.
    /// - Returns: The secret.
    /// - Throws: `StoreError` when the content is empty, isn't UTF-8 or has a control character.
    package static func secret(in bytes: [UInt8], of name: String) throws(StoreError) -> Secret {
        var line = bytes[...]
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        let isText = String(strictUTF8: Array(line)) != nil && line.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard !line.isEmpty, isText else {
            throw StoreError(.invalid, "read \(name)", "a client secret is one line of text in UTF-8")
        }
        return Secret(Array(line))
    }

    /// Reads the secret in the file that the setting `client.secretFile` names.
    ///
    /// A file in the directory that `CREDENTIALS_DIRECTORY` names is a credential of the service manager, which may belong to root.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - environment: The environment variables; nil for those of this process.
    /// - Returns: The secret.
    /// - Throws: ``ProfileError`` when the path isn't absolute, or with the error of the file.
    package static func secret(
        ofSetting path: String, environment: [String: String]? = nil
    ) throws(ProfileError) -> Secret {
        let key = ProfileSetting.clientSecretFile.rawValue
        guard path.hasPrefix("/") else { throw ProfileError(key, .value("must be an absolute path")) }
        let directory = (environment ?? ProcessInfo.processInfo.environment)["CREDENTIALS_DIRECTORY"] ?? ""
        do throws(StoreError) {
            guard let name = credentialName(path, in: directory) else { return try secret(at: path) }
            guard let bytes = try CredentialFile.contents(name, in: directory, limit: maxSize) else {
                throw StoreError(.notFound, "open \(path)", "it does not exist")
            }
            return try secret(in: bytes, of: path)
        } catch {
            throw ProfileError(key, .value("cannot be used: \(error.description)"))
        }
    }

    /// Returns the name of a file that lies directly in a directory, as systemd's credentials do; nil for any other path.
    ///
    /// The spelling is compared, so that no link and no `..` leads to another file.
    private static func credentialName(_ path: String, in directory: String) -> String? {
        let start = directory + "/"
        guard directory.hasPrefix("/"), path.utf8.starts(with: start.utf8) else { return nil }
        let name = String(Substring(path.utf8.dropFirst(start.utf8.count)))
        let isName = !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
        return isName && !name.utf8.contains(0) ? name : nil
    }
}
