#if PostgreSQL && os(Linux)
import CPostgreSQL
import SignetCore

/// How to reach the server. The connection string is kept as a secret, since it may hold the password.
struct PostgresSettings: Sendable {
    /// How long a transaction waits for another process, and a command for its answer, in seconds.
    let patience: Double
    private let connection: Secret

    init(_ connection: String, patience: Double) throws(StoreError) {
        self.connection = Secret(connection.utf8)
        self.patience = patience
        _ = try options()
    }

    /// libpq, if it is on this machine.
    static func functions() throws(StoreError) -> UnsafePointer<signet_libpq> {
        guard let functions = signet_libpq(), functions.pointee.PQisthreadsafe() == 1 else {
            throw StoreError(
                .failed, "connect to PostgreSQL", "the library libpq.so.5 is not on this machine; install it (Debian: libpq5)")
        }
        return functions
    }

    /// Lends what to connect with in the form libpq takes it: names, and a value to each, both ended by a null.
    func withParameters<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) throws(StoreError) -> R {
        let options = try options() + [("fallback_application_name", "signet")]
        return options.map(\.name).withCStrings { names in options.map(\.value).withCStrings { values in body(names, values) } }
    }

    /// What a refused or failed connection means. `words` are libpq's own; of an error of the server they hold only the code.
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

    /// The settings that the string names. libpq's reason for refusing a string quotes it, so it is not passed on.
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
    /// Lends the texts as a C array that ends with a null.
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
