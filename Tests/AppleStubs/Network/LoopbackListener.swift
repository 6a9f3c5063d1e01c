import SignetCore

/// The part of the network module's `LoopbackListener`, which needs NIO, that the type check of the Apple sources needs.
struct LoopbackListener {
    struct InvalidAddress: Error {
        let reason: String
    }

    let redirectURI: String

    static func sendingOn(to target: Secret) async throws -> LoopbackListener {
        throw InvalidAddress(reason: "this is for the type check only")
    }

    func answer(
        within timeout: Duration, accepting isExpected: @escaping @Sendable (_ query: String) -> Bool,
        whileOpening open: @escaping @Sendable () async throws -> Void
    ) async throws -> String { "" }
}
