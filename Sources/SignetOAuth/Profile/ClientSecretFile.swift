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
        try value(of: .clientSecretFile, path, limit: maxSize, environment) { (bytes) throws(StoreError) in
            try secret(in: bytes, of: path)
        }
    }

    /// Reads the key in the file that the setting `client.keyFile` names, which has the rules of a file with a secret.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - identifier: The ID of the key; nil for that of the file, or the thumbprint.
    ///   - environment: The environment variables; nil for those of this process.
    /// - Returns: The key.
    /// - Throws: ``ProfileError`` when the path isn't absolute, or with the error of the file.
    static func key(
        ofSetting path: String, identifier: String?, environment: [String: String]? = nil
    ) throws(ProfileError) -> ClientKey {
        try value(of: .clientKeyFile, path, limit: ClientKey.maxSize, environment) { (bytes) throws(StoreError) in
            try ClientKey(content: bytes, of: path, identifier: identifier)
        }
    }

    private static func value<Value>(
        of setting: ProfileSetting, _ path: String, limit: Int, _ environment: [String: String]?,
        _ read: (_ bytes: [UInt8]) throws(StoreError) -> Value
    ) throws(ProfileError) -> Value {
        guard path.hasPrefix("/") else { throw ProfileError(setting.rawValue, .value("must be an absolute path")) }
        let directory = (environment ?? ProcessInfo.processInfo.environment)["CREDENTIALS_DIRECTORY"] ?? ""
        do throws(StoreError) {
            guard let name = credentialName(path, in: directory) else {
                return try read(PrivateFile.contents(of: path, limit: limit))
            }
            guard let bytes = try CredentialFile.contents(name, in: directory, limit: limit) else {
                throw StoreError(.notFound, "open \(path)", "it does not exist")
            }
            return try read(bytes)
        } catch {
            throw ProfileError(setting.rawValue, .value("cannot be used: \(error.description)"))
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
