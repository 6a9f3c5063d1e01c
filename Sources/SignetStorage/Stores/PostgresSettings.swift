#if PostgreSQL && os(Linux)
import CPostgreSQL
import SignetCore

/// The settings for connections to the server.
///
/// The connection string is kept as a secret, because it may contain the password.
package struct PostgresSettings: Sendable {
    /// The timeout for other processes in a transaction and for the response to a command, in seconds.
    package let timeout: Double
    private let connection: Secret

    package init(_ connection: String, timeout: Double) throws(StoreError) {
        self.connection = Secret(connection.utf8)
        self.timeout = timeout
        _ = try options()
    }

    /// Returns the functions of libpq.
    /// - Throws: ``StoreError/Code/failed`` when libpq is not installed on this machine.
    static func functions() throws(StoreError) -> UnsafePointer<signet_libpq> {
        guard let functions = signet_libpq(), functions.pointee.PQisthreadsafe() == 1 else {
            throw StoreError(
                .failed, "connect to PostgreSQL", "the library libpq.so.5 is not on this machine; install it (Debian: libpq5)")
        }
        return functions
    }

    /// Calls `body` with the connection parameters in the form that libpq requires: an array of names and an array of values,
    /// each terminated by a null pointer.
    func withParameters<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) throws(StoreError) -> R {
        let options = try options() + [("fallback_application_name", "signet")]
        return options.map(\.name).withCStrings { names in options.map(\.value).withCStrings { values in body(names, values) } }
    }

    /// Returns the error for a connection that was rejected or failed.
    ///
    /// `words` is the message of libpq. For an error of the server, the message ends with the SQLSTATE code.
    func connectionFailure(_ words: String) -> StoreError {
        let operation = "connect to PostgreSQL"
        let line = words.split(separator: "\n").last.map(String.init) ?? ""
        let last = line.split(separator: " ").last.map(String.init) ?? ""
        if line.contains("FATAL"), last.count == 5, last.allSatisfy({ $0.isNumber || $0.isUppercase }) {
            return PostgresFailure.storeError(sqlState: last, operation)
        }
        let passwords = ((try? options()) ?? []).filter { $0.name.hasSuffix("password") }.map(\.value)
        let first = words.split(separator: "\n").first.map(String.init) ?? "it did not answer in time"
        let isSafe = passwords.allSatisfy { $0.isEmpty || !words.contains($0) }
        return StoreError(.failed, operation, isSafe ? first : "it cannot be reached")
    }

    /// Returns the settings in the connection string.
    ///
    /// libpq's message about an invalid string quotes the string, so it is not passed on.
    private func options() throws(StoreError) -> [(name: String, value: String)] {
        let functions = try Self.functions().pointee
        let text = connection.withUnsafeBytes { Array($0) } + [0]
        var words: UnsafeMutablePointer<CChar>?
        let parsed = text.withUnsafeBytes { bytes in
            functions.PQconninfoParse(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), &words)
        }
        functions.PQfreemem(words)
        guard let parsed else {
            throw StoreError(
                .failed, "connect to PostgreSQL", "the connection string is not one that libpq reads: KEY='VALUE' ..., or a URI")
        }
        defer { functions.PQconninfoFree(parsed) }
        var options: [(name: String, value: String)] = []
        var next = parsed
        while let name = next.pointee.keyword {
            if let value = next.pointee.val { options.append((String(cString: name), String(cString: value))) }
            next += 1
        }
        return options
    }
}

extension [String] {
    /// Calls `body` with the strings as a C array that is terminated by a null pointer.
    fileprivate func withCStrings<R>(_ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R) -> R {
        let texts = map { [CChar]($0.utf8CString) }
        let all = texts.flatMap(\.self)
        return all.withUnsafeBufferPointer { characters in
            var offset = 0
            let pointers: [UnsafePointer<CChar>?] =
                texts.map { text in
                    defer { offset += text.count }
                    return characters.baseAddress.map { $0 + offset }
                } + [nil]
            return body(pointers)
        }
    }
}

#endif
