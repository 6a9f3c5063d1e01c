import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

/// A client for one-time codes with the API of the Ping SDK.
///
/// It is a thin layer over `Authenticator`, which implements the rules.
///
///     let client = try await OathClient.createClient { config in config.storage = CustomStorage() }
///     let credential = try await client.addCredentialFromUri(uri)
///     let code = try await client.generateCode(credential.id)
///
/// The methods throw ``OathError`` and ``OathStorageError``.
public final class OathClient: Sendable {
    private let authenticator: Authenticator
    private let credentials: ClientCredentials
    private let log: ClientLog

    /// Creates a client with this configuration.
    ///
    /// The client owns the configuration's storage from then on.
    /// - Throws: ``OathError/initializationFailed(_:_:)`` when the configured storage cannot be opened.
    public init(configuration: sending OathConfiguration) async throws(OathError) {
        log = ClientLog(logger: configuration.logger)
        let (clock, policies) = (configuration.clock, configuration.policyEvaluator)
        let isCaching = configuration.enableCredentialCache
        let store: any AccountStore
        do throws(StoreError) {
            store = try await ClientConfiguration.accountStore(of: configuration)
        } catch {
            log.failed("createClient", nil, error)
            throw .initializationFailed(error.description, error)
        }
        authenticator = Authenticator(
            store: store, transport: NoTransport(), device: PushDevice(token: "", name: ""), clock: clock, policies: policies)
        credentials = ClientCredentials(authenticator, kinds: [.totp, .hotp], isCaching: isCaching)
    }

    /// Creates a client with the configuration that `configure` sets up.
    /// - Throws: ``OathError/initializationFailed(_:_:)`` when the configured storage cannot be opened.
    public static func createClient(
        configure: (OathConfiguration) -> Void = { _ in }
    ) async throws(OathError) -> OathClient {
        try await OathClient(configuration: OathConfiguration.build(configure))
    }

    /// Stores the one-time-code credential of an `otpauth` or `mfauth` URI.
    ///
    /// An existing account keeps its data.
    /// - Throws: ``OathError/duplicateCredential(_:)`` when the account has a credential of this type,
    ///   ``OathError/policyViolation(_:credentialId:)``, or the error for an invalid URI. In these cases nothing is stored.
    @discardableResult
    public func addCredentialFromUri(_ uri: String) async throws -> OathCredential {
        try await run("addCredentialFromUri", nil) {
            var enrollment = try EnrollmentURI.parse(uri)
            guard let oath = enrollment.oath else { throw OathError.invalidUri("the URI offers no one-time codes") }
            enrollment.push = nil
            let kind: Mechanism.KindName = if case .time = oath.factor { .totp } else { .hotp }
            return try OathCredential(await credentials.enroll(enrollment, kind))
        }
    }

    /// Stores a credential: a new one, or a new version of the stored one with the same id.
    ///
    /// The counter never moves back. The account's lock changes only if the app has locked or unlocked the value.
    /// - Returns: The stored credential.
    /// - Throws: ``OathError/duplicateCredential(_:)``, ``OathError/invalidParameterValue(_:)``, ``OathError/invalidSecret(_:)``.
    @discardableResult
    public func saveCredential(_ credential: OathCredential) async throws -> OathCredential {
        try await run("saveCredential", credential.id) {
            try OathCredential(
                await credentials.save(credential.id, credential.details) { stored in try credential.mechanism(over: stored) })
        }
    }

    /// Returns all credentials, oldest first, with their current locks.
    public func getCredentials() async throws -> [OathCredential] {
        try await run("getCredentials", nil) { try await credentials.all().map(OathCredential.init) }
    }

    /// Returns the credential with this id; nil when it does not exist.
    public func getCredential(_ credentialId: String) async throws -> OathCredential? {
        try await run("getCredential", credentialId) { try await credentials.one(credentialId).map(OathCredential.init) }
    }

    /// Removes a credential, and its account if it has no other credential.
    /// - Returns: True when the credential existed.
    @discardableResult
    public func deleteCredential(_ credentialId: String) async throws -> Bool {
        try await run("deleteCredential", credentialId) { try await credentials.remove(credentialId) }
    }

    /// Generates the current code of a credential.
    ///
    /// For HOTP, the incremented counter is stored durably before the code is returned, and no counter is used twice.
    /// - Throws: ``OathError/credentialNotFound(_:)``, ``OathError/credentialLocked(_:)``, ``OathError/codeGenerationFailed(_:)``
    ///   when the counter has reached its end.
    public func generateCode(_ credentialId: String) async throws -> String {
        try await generateCodeWithValidity(credentialId).code
    }

    /// Generates the current code of a credential and returns it with its validity.
    /// - Throws: The errors of ``generateCode(_:)``.
    public func generateCodeWithValidity(_ credentialId: String) async throws -> OathCodeInfo {
        try await run("generateCode", credentialId) {
            do {
                let code = try await authenticator.code(for: credentialId)
                // Only an HOTP code changes the store, and thereby makes the cache outdated.
                if case .counter = code.basis { credentials.forget() }
                return OathCodeInfo(code, at: authenticator.clock.now)
            } catch {
                credentials.forget()
                throw error
            }
        }
    }

    /// Empties the cache.
    ///
    /// Stored data stay, and the client can be used again.
    public func close() async throws {
        credentials.forget()
        log.write(.debug, "close", nil, "done")
    }

    /// Runs a call, logs its result, and converts errors to the types of this API.
    private func run<R>(_ call: String, _ id: String?, _ body: () async throws -> R) async throws -> R {
        try await log.running(call, id, translating: { OathError.translating($0, credentialId: id) }, body)
    }
}

/// A transport that rejects every request, because one-time codes need no server.
private struct NoTransport: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.invalidRequest, host: "?", "one-time codes need no server")
    }

    func stream(
        _ request: HTTPRequest, receive: @Sendable (_ piece: [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse {
        try await send(request)
    }
}
