import SignetCore
import SignetNetwork
import SignetStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One-time codes under the names of the Ping SDK: a form over ``Authenticator``, which has the rules.
///
///     let client = try await OathClient.createClient { config in config.storage = CustomStorage() }
///     let credential = try await client.addCredentialFromUri(uri)
///     let code = try await client.generateCode(credential.id)
///
/// Its methods throw ``OathError`` and ``OathStorageError``.
public final class OathClient: Sendable {
    private let authenticator: Authenticator
    private let credentials: CredentialReader
    private let log: ClientLog

    /// A client that works as `configuration` says, and owns its storage.
    /// - Throws: ``OathError/initializationFailed(_:_:)`` when the storage cannot be opened as configured.
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

    /// A client that works as `configure` says.
    /// - Throws: ``OathError/initializationFailed(_:_:)`` when the storage cannot be opened as configured.
    public static func createClient(
        configure: (OathConfiguration) -> Void = { _ in }
    ) async throws(OathError) -> OathClient {
        try await OathClient(configuration: OathConfiguration.build(configure))
    }

    /// Stores the one-time-code half of what an `otpauth` or `mfauth` URI offers. The account keeps what it has already.
    /// - Throws: ``OathError/duplicateCredential(_:)`` when the account has a credential of this type,
    ///   ``OathError/policyViolation(_:credentialId:)``, or what is wrong with the URI. Nothing is stored then.
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

    /// Stores a credential, new or in the place of the one with its id. Its counter never goes back, and the account's lock
    /// changes only if the value was locked or unlocked by the app. Returns what is stored.
    /// - Throws: ``OathError/duplicateCredential(_:)``, ``OathError/invalidParameterValue(_:)``, ``OathError/invalidSecret(_:)``.
    @discardableResult
    public func saveCredential(_ credential: OathCredential) async throws -> OathCredential {
        try await run("saveCredential", credential.id) {
            let now = authenticator.clock.now
            let saved = try await credentials.changing {
                try await authenticator.store.write { (records: any AccountWriter) throws(StoreError) in
                    let stored = try records.mechanism(credential.id)
                    return try Self.save(credential, over: stored, now: now, in: records)
                }.get()
            }
            guard let mechanism = saved.mechanisms.first else { throw OathError.credentialNotFound(credential.id) }
            let lock = await authenticator.policies.lock(on: saved.account)
            return try Self.credential(EnrolledMechanism(mechanism: mechanism, account: saved.account, lock: lock))
        }
    }

    private static func save(
        _ credential: OathCredential, over stored: Mechanism?, now: Date, in records: any AccountWriter
    ) throws(StoreError) -> Result<EnrolledAccount, any Error> {
        let mechanism: Mechanism
        do throws(OathError) {
            mechanism = try credential.mechanism(over: stored)
        } catch {
            return .failure(error)
        }
        return try AccountRules.save(mechanism, credential.details, now: now, in: records).mapError { $0 as any Error }
    }

    /// Every credential, the oldest first, and whether it is locked now.
    public func getCredentials() async throws -> [OathCredential] {
        try await run("getCredentials", nil) { try await credentials.all().compactMap(OathCredential.init) }
    }

    /// The credential with this id; nil if there is none.
    public func getCredential(_ credentialId: String) async throws -> OathCredential? {
        try await run("getCredential", credentialId) { try await credentials.one(credentialId).flatMap(OathCredential.init) }
    }

    /// Removes a credential, and its account if it was the last there. Returns whether it was there.
    @discardableResult
    public func deleteCredential(_ credentialId: String) async throws -> Bool {
        try await run("deleteCredential", credentialId) {
            try await credentials.changing {
                guard try await isOurs(credentialId) else { return false }
                return try await authenticator.removeMechanism(credentialId)
            }
        }
    }

    /// The code of a credential, now. A counter is used up, durably, before its code is returned, and never used twice.
    /// - Throws: ``OathError/credentialNotFound(_:)``, ``OathError/credentialLocked(_:)``,
    ///   ``OathError/codeGenerationFailed(_:)`` when the counter is at its end.
    public func generateCode(_ credentialId: String) async throws -> String {
        try await generateCodeWithValidity(credentialId).code
    }

    /// The same with how long it is good for.
    /// - Throws: as ``generateCode(_:)``.
    public func generateCodeWithValidity(_ credentialId: String) async throws -> OathCodeInfo {
        try await run("generateCode", credentialId) {
            do {
                let code = try await authenticator.code(for: credentialId)
                // A time's code changes nothing; only a counter's makes the memory wrong.
                if case .counter = code.basis { credentials.forget() }
                return OathCodeInfo(code, at: authenticator.clock.now)
            } catch {
                credentials.forget()
                throw error
            }
        }
    }

    /// Forgets what is in memory. What is stored stays, and the client can be used again.
    public func close() async throws {
        credentials.forget()
        log.note(.debug, "close", nil, "done")
    }

    private func isOurs(_ uid: String) async throws(StoreError) -> Bool {
        try await authenticator.store.read { (records: any AccountReader) throws(StoreError) in
            try records.mechanism(uid)?.oath != nil
        }
    }

    private static func credential(_ enrolled: EnrolledMechanism) throws(OathError) -> OathCredential {
        guard let credential = OathCredential(enrolled) else { throw .credentialNotFound(enrolled.mechanism.uid) }
        return credential
    }

    /// Runs a call: writes its line, and gives errors this family's names.
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

/// Codes need no server.
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
