import Foundation
import PingOath
import PingPush
import SignetAuthenticator
import SignetCore
import SignetStorage
import SignetTesting
import TestSupport
import Testing

@Suite("OathClient")
struct OathClientTests {
    @Test(
        "Credentials are enrolled, listed, used, saved and deleted in every kind of storage",
        arguments: ClientStorageKind.allCases)
    func credentialLifeCycle(storage: ClientStorageKind) async throws {
        try await storage.withOath { use in
            let clock = ManualClock(Sample.start)
            let client = try await OathClient.createClient { config in
                use(config)
                config.clock = clock
            }
            let time = try await client.addCredentialFromUri(Sample.totp + "&digits=8&period=60&algorithm=SHA256")
            let counted = try await client.addCredentialFromUri(Sample.hotp)
            let byType = [counted, time].sorted { $0.oathType.rawValue < $1.oathType.rawValue }
            #expect(try await client.getCredentials() == byType)
            #expect(try await client.getCredential(time.id) == time)
            #expect(time.issuer == "Harbor Bank" && time.accountName == "mira" && time.algorithm == "SHA256")

            // protocol/authenticator.md, U1 and U2.
            #expect(try await client.generateCode(time.id) == "03631580")
            clock.advance(by: 15)
            let info = try await client.generateCodeWithValidity(time.id)
            #expect((info.timeRemaining, info.totalPeriod, info.counter, info.progress) == (45, 60, -1, 0.25))
            let first = try await client.generateCodeWithValidity(counted.id)
            #expect((first.code, first.counter, first.timeRemaining, first.totalPeriod) == ("099169", 8, -1, 0))
            #expect(try await client.generateCode(counted.id) == "802135")

            var renamed = time
            renamed.displayIssuer = "The Bank"
            #expect(try await client.saveCredential(renamed).displayIssuer == "The Bank")
            #expect(try await client.getCredential(counted.id)?.displayIssuer == "The Bank", "both share one account name")

            #expect(try await client.deleteCredential(time.id))
            #expect(try await !client.deleteCredential(time.id))
            #expect(try await client.getCredential(time.id) == nil)
            await #expect(throws: OathError.credentialNotFound(time.id)) { try await client.generateCode(time.id) }
            #expect(try await client.getCredentials().map(\.id) == [counted.id])
        }
    }

    @Test("A client reads the credentials that another client stored", arguments: ClientStorageKind.persistent)
    func reopensStorage(storage: ClientStorageKind) async throws {
        try await storage.withOath { use in
            let first = try await OathClient.createClient(configure: use)
            let credential = try await first.addCredentialFromUri(Sample.hotp)
            _ = try await first.generateCode(credential.id)
            try await first.close()
            let second = try await OathClient.createClient(configure: use)
            #expect(try await second.getCredential(credential.id)?.counter == 8)
            #expect(try await second.generateCode(credential.id) == "802135")
        }
    }

    static let crowds: [(ClientStorageKind, Int)] = [
        (.memory, 1000), (.ownStorage, 1000), (.ownDelegate, 100), (.sqlite, 100), (.vault, 100),
    ]

    @Test("Concurrent calls never use a counter twice", arguments: crowds)
    func concurrentCallsUseEachCounterOnce(storage: ClientStorageKind, count: Int) async throws {
        try await storage.withOath { use in
            let client = try await OathClient.createClient { config in
                use(config)
                config.timeoutMs = 600
                config.enableCredentialCache = true
            }
            let id = try await client.addCredentialFromUri(Sample.hotp).id
            let counters = try await client.countersOfConcurrentCodes(id, count)
            #expect(counters == Set(8..<8 + count))
            #expect(try await client.getCredential(id)?.counter == 7 + count)
        }
    }

    @Test("Saving an outdated value changes neither the counter nor a policy lock")
    func savingOutdatedValueKeepsCounter() async throws {
        let isBroken = Toggle()
        let client = try await OathClient.createClient { config in
            config.storage = MemoryStorage()
            config.accountPolicies = AccountPolicies([BreakablePolicy(name: "p", isBroken: isBroken)])
        }
        let policies = Sample.base64(#"{"p":{}}"#)
        let old = try await client.addCredentialFromUri(Sample.hotp + "&policies=\(policies)")
        _ = try await client.generateCode(old.id)
        #expect(try await client.saveCredential(old).counter == 8)

        isBroken.turnOn()
        let locked = try #require(try await client.getCredential(old.id))
        #expect(locked.isLocked && locked.lockingPolicy == "p")
        await #expect(throws: OathError.credentialLocked(old.id)) { try await client.generateCode(old.id) }
        #expect(try await client.saveCredential(locked).isLocked)
        isBroken.turnOff()
        #expect(try await client.getCredential(old.id)?.isLocked == false)
        _ = try await client.generateCode(old.id)
    }

    @Test(
        "A credential locked or unlocked by the app is stored as locked or unlocked when it is saved",
        arguments: ClientStorageKind.allCases)
    func savesAppLock(storage: ClientStorageKind) async throws {
        try await storage.withOath { use in
            let client = try await OathClient.createClient(configure: use)
            var credential = try await client.addCredentialFromUri(Sample.totp)
            credential.lockCredential(policyName: "lost phone")
            try await client.saveCredential(credential)
            let stored = try #require(try await client.getCredential(credential.id))
            #expect(stored.isLocked && stored.lockingPolicy == "lost phone")
            await #expect(throws: OathError.credentialLocked(credential.id)) { try await client.generateCode(credential.id) }
            credential.unlockCredential()
            #expect(try await !client.saveCredential(credential).isLocked)
            _ = try await client.generateCode(credential.id)
        }
    }

    @Test("A second credential of the same type is refused, and one of another type is accepted")
    func refusesDuplicateCredential() async throws {
        let client = try await OathClient.createClient { $0.storage = MemoryStorage() }
        let credential = try await client.addCredentialFromUri(Sample.totp)
        await #expect(throws: OathError.duplicateCredential(credential.id)) {
            try await client.addCredentialFromUri(Sample.totp)
        }
        let other = OathCredential(
            issuer: "Harbor Bank", accountName: "mira", oathType: .totp, secretKey: "KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD")
        await #expect(throws: OathError.duplicateCredential(credential.id)) { try await client.saveCredential(other) }
        try await client.addCredentialFromUri(Sample.hotp)
        #expect(try await client.getCredentials().count == 2)
    }

    static let refused: [(String, @Sendable (OathError) -> Bool)] = [
        ("", { if case .invalidUri = $0 { true } else { false } }),
        ("https://totp/X:mira?secret=\(Sample.oathKey)", { if case .invalidUri = $0 { true } else { false } }),
        (Sample.push, { if case .invalidUri = $0 { true } else { false } }),
        ("otpauth://motp/X:mira?secret=\(Sample.oathKey)", { if case .invalidUri = $0 { true } else { false } }),
        ("otpauth://totp/X:mira", { $0 == .missingRequiredParameter("secret") }),
        ("otpauth://totp/X:mira?secret=19191919\(Sample.oathKey)!", { if case .invalidSecret = $0 { true } else { false } }),
        (
            "otpauth://totp/X:mira?secret=\(Sample.oathKey)&algorithm=MD5",
            { if case .invalidAlgorithm = $0 { true } else { false } }
        ),
        (
            "otpauth://totp/X:mira?secret=\(Sample.oathKey)&digits=12",
            { if case .invalidParameterValue = $0 { true } else { false } }
        ),
        (
            "otpauth://totp/X:mira?secret=\(Sample.oathKey)&period=0",
            { if case .invalidParameterValue = $0 { true } else { false } }
        ),
        (
            "otpauth://hotp/X:mira?secret=\(Sample.oathKey)&counter=-1",
            { if case .invalidParameterValue = $0 { true } else { false } }
        ),
    ]

    @Test("An invalid URI is refused with a specific error that does not repeat it, and nothing is stored", arguments: refused)
    func refusesInvalidURI(uri: String, isExpected: @Sendable (OathError) -> Bool) async throws {
        let client = try await OathClient.createClient { $0.storage = MemoryStorage() }
        await #expect {
            try await client.addCredentialFromUri(uri)
        } throws: { error in
            let text = "\(error) \(String(reflecting: error))"
            return !text.contains(Sample.oathKey) && (uri.isEmpty || !text.contains(uri))
                && (error as? OathError).map(isExpected) ?? false
        }
        #expect(try await client.getCredentials().isEmpty)
    }

    @Test("An invalid credential is not saved")
    func refusesInvalidCredential() async throws {
        let client = try await OathClient.createClient { $0.storage = MemoryStorage() }
        func made(
            _ issuer: String = "X", digits: Int = 6, period: Int = 30, counter: Int = 0, secret: String = Sample.oathKey
        )
            -> OathCredential
        {
            OathCredential(
                issuer: issuer, accountName: "mira", oathType: .totp, digits: digits, period: period, counter: counter,
                secretKey: secret)
        }
        let wrong = [made(""), made("a\u{202E}b"), made(digits: 9), made(period: 0), made(counter: -1)]
        for credential in wrong {
            await #expect {
                try await client.saveCredential(credential)
            } throws: {
                if case OathError.invalidParameterValue = $0 { true } else { false }
            }
        }
        for credential in [made(secret: ""), made(secret: "0189")] {
            await #expect {
                try await client.saveCredential(credential)
            } throws: {
                if case OathError.invalidSecret = $0 { true } else { false }
            }
        }
        #expect(try await client.getCredentials().isEmpty)
    }

    @Test("A credential whose counter is exhausted gives no code and reports an error")
    func oathCounterExhausted() async throws {
        let store = AccountRecords(unsealed: MemoryStore())
        let settings = OATHSettings(secret: Secret([1]), factor: .counter(next: .max))
        let account = AccountID(issuer: "X", accountName: "mira")
        let uid = try await Authenticator(store: store).enroll(Enrollment(account: account, oath: settings)).mechanisms[0].uid
        let client = try await OathClient.createClient { $0.storage = store }
        await #expect {
            try await client.generateCode(uid)
        } throws: {
            if case OathError.codeGenerationFailed = $0 { true } else { false }
        }
    }

    @Test("Each call logs its result with ids, and a failed call its error")
    func logsEachCall() async throws {
        let logger = RecordingLogger()
        let client = try await OathClient.createClient { config in
            config.storage = MemoryStorage()
            config.logger = logger
        }
        let credential = try await client.addCredentialFromUri(Sample.totp)
        try await client.saveCredential(credential)
        _ = try await client.getCredentials()
        _ = try await client.getCredential(credential.id)
        _ = try await client.getCredential("none")
        _ = try await client.generateCode(credential.id)
        _ = try? await client.generateCode("none")
        _ = try? await client.addCredentialFromUri("none")
        try await client.deleteCredential(credential.id)
        try await client.deleteCredential("none")
        try await client.close()
        let id = credential.id
        let expected = [
            "OATH client initialized successfully", "Successfully added credential: \(id)",
            "Successfully saved credential: \(id)",
            "Retrieved 1 credentials", "Found credential: \(id)", "Credential not found: none",
            "Successfully generated code for credential: \(id)", "Failed to generate code for credential none: ",
            "Failed to add credential from URI: ", "Successfully deleted credential: \(id)",
            "Credential not found for deletion: none", "OATH client closed successfully",
        ]
        let lines = logger.lines
        #expect(lines.count == expected.count)
        for (line, start) in zip(lines, expected) {
            #expect(line.text.hasPrefix(start))
            #expect(line.level == (start.hasPrefix("Failed") ? .error : .debug))
        }
    }

    @Test("The OATH and push clients each enroll their part of a combined URI in one account")
    func enrollsCombinedURI() async throws {
        let store = AccountRecords(unsealed: MemoryStore())
        let oath = try await OathClient.createClient { $0.storage = store }
        let push = try await PushClientFixture { $0.storage = store }
        let code = try await oath.addCredentialFromUri(Sample.combined)
        let registered = try await push.enroll(Sample.combined)
        #expect(code.id != registered.id)
        #expect(try await oath.getCredentials().map(\.id) == [code.id])
        #expect(try await push.client.getCredentials().map(\.id) == [registered.id])
        #expect(try await oath.getCredential(registered.id) == nil)
        #expect(try await !oath.deleteCredential(registered.id))
        await #expect(throws: OathError.credentialNotFound(registered.id)) { try await oath.generateCode(registered.id) }
        #expect(try await Authenticator(store: store).accounts().count == 1)
    }
}

extension OathClient {
    /// Returns the counters of codes that are generated at the same time.
    /// - Parameters:
    ///   - id: The id of the credential.
    ///   - count: The number of codes.
    /// - Returns: The counters, each once.
    /// - Throws: The error of a code that cannot be generated.
    func countersOfConcurrentCodes(_ id: String, _ count: Int) async throws -> Set<Int> {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count { group.addTask { try await self.generateCodeWithValidity(id).counter } }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
    }
}
