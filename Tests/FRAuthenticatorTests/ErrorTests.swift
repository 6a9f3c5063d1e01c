import FRCore
import Foundation
import SignetAuthenticator
import SignetCore
import SignetNetwork
import SignetStorage
import Testing

@testable import FRAuthenticator

@Suite("Error codes and domains")
struct ErrorTests {
    /// protocol/authenticator.md section 8.5.
    static let documented: [(any CodedFRError, Int, String)] = [
        (PushNotificationError.missingDeviceToken, 1_100_000, "frauthenticator.pushnotification"),
        (PushNotificationError.notificationInvalidStatus, 1_100_001, "frauthenticator.pushnotification"),
        (PushNotificationError.storageError("x"), 1_100_002, "frauthenticator.pushnotification"),
        (PushNotificationError.updateFailed(errors: []), 1_100_003, "frauthenticator.pushnotification"),
        (CryptoError.invalidParam("x"), 1_200_000, "frauthenticator.crypto"),
        (CryptoError.failToConvertData, 1_200_001, "frauthenticator.crypto"),
        (CryptoError.invalidJWT, 1_200_002, "frauthenticator.crypto"),
        (CryptoError.unsupportedJWTType, 1_200_003, "frauthenticator.crypto"),
        (NetworkError.invalidResponseDataType, 5_000_003, "frcore.network"),
        (NetworkError.invalidRequest("x"), 5_000_005, "frcore.network"),
        (NetworkError.apiRequestFailure(nil, nil, nil), 5_000_010, "frcore.network"),
        (MechanismError.invalidQRCode, 6_000_000, "frauthenticator.mechanism"),
        (MechanismError.invalidType, 6_000_001, "frauthenticator.mechanism"),
        (MechanismError.missingInformation("x"), 6_000_002, "frauthenticator.mechanism"),
        (MechanismError.invalidInformation("x"), 6_000_003, "frauthenticator.mechanism"),
        (MechanismError.alreadyExists("x"), 6_000_004, "frauthenticator.mechanism"),
        (MechanismError.failedToUpdateInformation("x"), 6_000_005, "frauthenticator.mechanism"),
        (AccountError.accountLocked("x"), 6_100_000, "frauthenticator.account"),
        (AccountError.failToLockMissingPolicyName, 6_100_001, "frauthenticator.account"),
        (AccountError.failToLockInvalidPolicy, 6_100_002, "frauthenticator.account"),
        (AccountError.failToLockAccountAlreadyLocked, 6_100_003, "frauthenticator.account"),
        (AccountError.failToUnlockAccountNotLocked, 6_100_004, "frauthenticator.account"),
        (AccountError.failToRegisterPolicyViolation("x"), 6_100_005, "frauthenticator.account"),
        (NotificationError.invalidPayload("x"), 7_000_000, "frauthenticator.notification"),
        (FRAError.invalidStateForChangingStorage, 8_000_000, "frauthenticator.fra"),
        (FRAError.failToSaveIntoStorageClient("x"), 8_000_001, "frauthenticator.fra"),
        (FRAError.invalidStateForChangingPolicyEvaluator, 8_000_002, "frauthenticator.fra"),
        (FRAError.invalidPolicyRegisteredWithPolicyEvaluator("x"), 8_000_003, "frauthenticator.fra"),
        (FRAuthenticator.OathError.invalidSecret, 9_000_000, "frauthenticator.oath"),
    ]

    @Test("Errors have the documented codes and domains, and a description")
    func errorsHaveDocumentedCodesAndDomains() {
        for (error, code, domain) in Self.documented {
            #expect(error.code == code)
            #expect(type(of: error).domain == "com.forgerock.ios." + domain)
            #expect(!error.description.isEmpty)
        }
        #expect(Set(Self.documented.map(\.1)).count == Self.documented.count)
    }

    @Test("As an NSError, an error has the documented domain and code, and a short and a long text")
    func bridgesErrorsToNSError() {
        for (error, code, domain) in Self.documented {
            #expect(error.errorCode == code)
            #expect(type(of: error).errorDomain == "com.forgerock.ios." + domain)
            #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == error.message)
            #expect(error.localizedDescription == error.message && error.errorDescription == error.message)
            #expect(error.recoverySuggestion == error.description && !error.message.isEmpty)
            let bridged = error as NSError
            #expect(bridged.code == code && bridged.domain == "com.forgerock.ios." + domain)
            #expect(bridged.localizedDescription == error.message)
        }
        #expect(MechanismError.invalidType.parseErrorCode() == 6_000_001)
        #expect(FRAError.invalidStateForChangingStorage.parseErrorCode() == 8_000_000)
        let update = PushNotificationError.updateFailed(errors: [MechanismError.invalidType, CancellationError()])
        #expect(update.description.contains(MechanismError.invalidType.description))
        let payloads: [any CodedFRError] = [
            MechanismError.missingInformation("x"), MechanismError.invalidInformation("x"),
            PushNotificationError.storageError("x"), NotificationError.invalidPayload("x"),
        ]
        let texts = payloads.map { $0.localizedDescription }
        #expect(
            texts == ["Missing information: x", "Invalid information: x", "Storage error: x", "Invalid notification payload: x"])
    }

    /// The documented code for each code of `AuthenticatorError`; a new code fails the test until it is listed here.
    static let authenticator: [AuthenticatorError.Code: Int] = [
        .duplicateMechanism: 6_000_004, .nothingOffered: 6_000_000, .policyViolation: 6_100_005, .registeredNotStored: 8_000_001,
        .unknownAccount: 1_100_002, .unknownMechanism: 1_100_002, .unknownNotification: 1_100_002, .wrongKind: 6_000_003,
        .accountLocked: 6_100_000, .alreadyLocked: 6_100_003, .notLocked: 6_100_004, .invalidPolicy: 6_100_001,
        .invalidName: 6_000_003, .counterExhausted: 6_000_005, .counterBackwards: 6_000_005, .alreadyAnswered: 1_100_001,
        .expired: 1_100_001, .wrongNumber: 6_000_003, .presenceRefused: 6_000_003, .refusedByServer: 5_000_010,
        .notSupported: 5_000_010, .serverMisbehaved: 5_000_003, .noPushStream: 6_000_003, .unknownPlatform: 6_000_003,
        .counterElsewhere: 6_000_003,
    ]

    @Test("Each error code of SignetAuthenticator maps to its documented code", arguments: AuthenticatorError.Code.allCases)
    func mapsAuthenticatorErrorToDocumentedCode(code: AuthenticatorError.Code) {
        #expect(LegacyErrors.error(AuthenticatorError(code, "why")).code == Self.authenticator[code])
    }

    @Test("Mapped errors keep the identifier, the policy and whether a retry helps")
    func mappedErrorsKeepTheirContext() {
        func error(_ code: AuthenticatorError.Code, status: Int? = nil, policy: String? = nil) -> any CodedFRError {
            LegacyErrors.error(
                AuthenticatorError(code, "why", status: status, policy: policy), identifier: "Harbor Bank-mira-totp")
        }
        #expect(error(.duplicateMechanism) as? MechanismError == .alreadyExists("Harbor Bank-mira-totp"))
        #expect(error(.accountLocked, policy: "custom") as? AccountError == .accountLocked("custom"))
        #expect(error(.policyViolation, policy: "custom") as? AccountError == .failToRegisterPolicyViolation("custom"))
        #expect(error(.invalidPolicy, policy: "custom") as? AccountError == .failToLockInvalidPolicy)
        #expect((error(.serverMisbehaved, status: 503) as? NetworkError)?.isRetryable == true)
        #expect((error(.refusedByServer, status: 400) as? NetworkError)?.isRetryable == false)
        let already = AccountError.accountLocked("as it is")
        #expect(LegacyErrors.error(already) as? AccountError == already)
    }

    @Test("Each storage error maps to one documented code and keeps the reason", arguments: StoreError.Code.allCases)
    func mapsStoreErrorToDocumentedCode(code: StoreError.Code) {
        let error = LegacyErrors.error(StoreError(code, "store", "the reason"))
        #expect(error.code == 8_000_001)
        #expect(error.description.contains("the reason"))
    }

    static let transport: [TransportError.Code: Int] = [
        .connect: 5_000_010, .tls: 5_000_010, .timeout: 5_000_010, .interrupted: 5_000_010, .cancelled: 5_000_010,
        .notHTTP: 5_000_003, .tooLarge: 5_000_003, .invalidRequest: 5_000_005,
        .wrongKey: 5_000_010, .cannotPin: 5_000_010,
    ]

    @Test(
        "Each transport error maps to its documented code and says whether a retry helps",
        arguments: TransportError.Code.allCases)
    func mapsTransportErrorToDocumentedCode(code: TransportError.Code) {
        let engine = TransportError(code, host: "am.example.test", "why")
        let error = LegacyErrors.error(engine)
        #expect(error.code == Self.transport[code])
        #expect((error as? NetworkError)?.isRetryable == engine.isRetryable)
    }

    @Test("Push message errors and unknown errors map to documented codes")
    func mapsMessageAndUnknownErrorsToDocumentedCodes() {
        struct Strange: Error {}
        #expect(LegacyErrors.error(PushMessageError.form).code == 1_200_002)
        #expect(LegacyErrors.error(PushMessageError.claim("c")).code == 7_000_000)
        #expect(LegacyErrors.error(PushMessageError.algorithm).code == 1_200_003)
        #expect(LegacyErrors.error(PushMessageError.signature).code == 1_200_002)
        #expect(LegacyErrors.error(CancellationError()).code == 5_000_010)
        #expect(LegacyErrors.error(Strange()).code == 5_000_010)
    }

    @Test(
        "Errors of enrollment URIs map to the documented codes",
        arguments: [
            ("https://am.example.test/x", 6_000_001), ("https://totp/x", 6_000_000), ("a line of text", 6_000_000),
            ("otpauth://push/Harbor:mira?secret=KDJ7CDBN", 6_000_000), ("otpauth://x/Harbor:mira?secret=KDJ7CDBN", 6_000_001),
            ("pushauth://push/Harbor:mira", 6_000_000), ("mfauth://totp/Harbor:mira", 6_000_000),
            ("otpauth://totp/Harbor:mira", 6_000_002), ("otpauth://totp/?secret=KDJ7CDBN", 6_000_002),
            ("otpauth://totp/Harbor:mira?secret=KDJ7CDBN&period=0", 6_000_003),
            ("otpauth://totp/Harbor:mira?secret=!", 6_000_003), ("mfauth://totp/Harbor:mira?secret=KDJ7CDBN", 6_000_002),
            ("pushauth://push/X:mira?m=x", 6_000_002),
        ])
    func mapsURIErrorsToDocumentedCodes(uri: String, code: Int) {
        let error = #expect(throws: EnrollmentError.self) { try EnrollmentURI.parse(uri) }
        let legacyCode = error.map { LegacyErrors.error($0).code }
        #expect(legacyCode == code)
    }
}
