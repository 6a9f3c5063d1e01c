import Foundation
import PingOath
import Testing

@Suite("Errors of PingOath")
struct OathErrorTests {
    private struct Cause: Error {}

    static let errors: [OathError] = [
        .credentialNotFound("id-1"), .credentialLocked("id-1"), .duplicateCredential("id-1"), .invalidUri("detail"),
        .missingRequiredParameter("secret"), .invalidParameterValue("detail"), .uriFormatting("detail"), .invalidSecret("detail"),
        .invalidOathType("detail"), .invalidAlgorithm("detail"), .codeGenerationFailed("detail"),
        .codeGenerationFailed("detail", Cause()), .policyViolation("detail", "id-1"), .initializationFailed("detail"),
        .initializationFailed("detail", Cause()), .cleanupFailed("detail"), .cleanupFailed("detail", Cause()),
    ]
    static let storageErrors: [OathStorageError] = [
        .storageFailure("detail"), .storageFailure("detail", Cause()), .duplicateCredential("id-1"), .storageCorrupted("detail"),
        .accessDenied("detail"),
    ]

    @Test("Each error has a description with its details, a reason and advice")
    func oathErrorsHaveTexts() {
        let all: [any LocalizedError & CustomStringConvertible] = Self.errors + Self.storageErrors
        for error in all {
            #expect(error.localizedDescription == error.errorDescription)
            #expect(error.localizedDescription.contains(error.description))
            #expect(error.failureReason?.hasSuffix(".") == true && error.recoverySuggestion?.hasSuffix(".") == true)
        }
        #expect(OathError.credentialNotFound("id-1").localizedDescription.contains("id-1"))
    }

    @Test("Errors are equal when their cases and texts are")
    func errorsAreComparable() {
        #expect(OathError.cleanupFailed("detail") == .cleanupFailed("detail", Cause()))
        #expect(OathError.cleanupFailed("detail") != .initializationFailed("detail"))
        #expect(OathError.policyViolation("a", "b") != .policyViolation("b", "a"))
    }
}
