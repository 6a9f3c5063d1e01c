import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A client for one-time codes with the API of the Ping SDK. It is a thin layer over `Authenticator`, which implements the
/// rules.
///
///     let client = try await OathClient.createClient { config in config.storage = CustomStorage() }
///     let credential = try await client.addCredentialFromUri(uri)
///     let code = try await client.generateCode(credential.id)
///
/// The methods throw ``OathError`` and ``OathStorageError``.
public final class OathClient: Sendable {
    private let authenticator: Authenticator
    private let credentials: CredentialReader
    private let log: ClientLog

    /// Creates a client with this configuration. The client owns the configuration's storage from then on.
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
        credentials = CredentialReader(authenticator, kinds: [.totp, .hotp], isCaching: isCaching)
    }

    /// Creates a client with the configuration that `configure` sets up.
    /// - Throws: ``OathError/initializationFailed(_:_:)`` when the configured storage cannot be opened.
    public static func createClient(
        configure: (OathConfiguration) -> Void = { _ in }
    ) async throws(OathError) -> OathClient {
        try await OathClient(configuration: OathConfiguration.build(configure))
    }

    /// Stores the one-time-code credential of an `otpauth` or `mfauth` URI. An existing account keeps its data.
    /// - Throws: ``OathError/duplicateCredential(_:)`` when the account has a credential of this type,
    ///   ``OathError/policyViolation(_:credentialId:)``, or the error for an invalid URI. In these cases nothing is stored.
    @discardableResult
    public func addCredentialFromUri(_ uri: String) async throws -> OathCredential {
        try await run("addCredentialFromUri", nil) {
            var enrollment = try EnrollmentURI.parse(uri)
            guard let oath = enrollment.oath else { throw OathError.invalidUri("the URI offers no one-time codes") }
            enrollment.push = nil
            let offer = enrollment
            let enrolled = try await credentials.changing { try await authenticator.enroll(offer) }
            let name: Mechanism.KindName = if case .time = oath.factor { .totp } else { .hotp }
            guard let mechanism = enrolled.mechanisms.first(where: { $0.kindName == name }) else {
                throw OathError.credentialNotFound("")
            }
            return try Self.credential(
                EnrolledMechanism(mechanism: mechanism, account: enrolled.account, lock: enrolled.lock))
        }
    }

    /// Stores a credential: a new one, or a new version of the stored one with the same id. The counter never moves back. The
    /// account's lock changes only if the app has locked or unlocked the value.
    /// - Returns: The stored credential.
    /// - Throws: ``OathError/duplicateCredential(_:)``, ``OathError/invalidParameterValue(_:)``, ``OathError/invalidSecret(_:)``.
    @discardableResult
    public func saveCredential(_ credential: OathCredential) async throws -> OathCredential {
        try await run("saveCredential", credential.id) {
            let now = authenticator.clock.now
            let saved = try await credentials.changing {
                try await authenticator.store.perform(
                    .save(credential.id, credential.details, now: now) { stored in try credential.mechanism(over: stored) })
            }
            guard let mechanism = saved.mechanisms.first else { throw OathError.credentialNotFound(credential.id) }
            let lock = await authenticator.policies.lock(on: saved.account)
            return try Self.credential(EnrolledMechanism(mechanism: mechanism, account: saved.account, lock: lock))
        }
    }

    /// Returns all credentials, oldest first, with their current locks.
    public func getCredentials() async throws -> [OathCredential] {
        try await run("getCredentials", nil) { try await credentials.all().compactMap(OathCredential.init) }
    }

    /// Returns the credential with this id; nil when it does not exist.
    public func getCredential(_ credentialId: String) async throws -> OathCredential? {
        try await run("getCredential", credentialId) { try await credentials.one(credentialId).flatMap(OathCredential.init) }
    }

    /// Removes a credential, and its account if it has no other credential.
    /// - Returns: True when the credential existed.
    @discardableResult
    public func deleteCredential(_ credentialId: String) async throws -> Bool {
        try await run("deleteCredential", credentialId) {
            try await credentials.changing {
                guard try await isOurs(credentialId) else { return false }
                return try await authenticator.removeMechanism(credentialId)
            }
        }
    }

    /// Generates the current code of a credential. For HOTP, the incremented counter is stored durably before the code is
    /// returned, and no counter is used twice.
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

    /// Empties the cache. Stored data stay, and the client can be used again.
    public func close() async throws {
        credentials.forget()
        log.note(.debug, "close", nil, "done")
    }

    private func isOurs(_ uid: String) async throws(StoreError) -> Bool {
        try await authenticator.store.fetch(.mechanism(uid))?.oath != nil
    }

    private static func credential(_ enrolled: EnrolledMechanism) throws(OathError) -> OathCredential {
        guard let credential = OathCredential(enrolled) else { throw .credentialNotFound(enrolled.mechanism.uid) }
        return credential
    }

    /// Runs a call, logs its result, and converts errors to the types of this API.
    private func run<R>(_ call: String, _ id: String?, _ body: () async throws -> R) async throws -> R {
        do {
            let result = try await body()
            log.note(.debug, call, id, "done")
            return result
        } catch {
            log.failed(call, id, error)
            throw OathError.translating(error, credentialId: id)
        }
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
