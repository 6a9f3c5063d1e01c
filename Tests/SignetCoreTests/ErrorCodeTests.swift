import SignetCore
import Testing

@Suite("Error codes")
struct ErrorCodeTests {
    @Test("Each code of an error type has a unique name")
    func errorCodeNamesAreUnique() {
        #expect(Self.areUnique(OAuthError.Code.self))
        #expect(Self.areUnique(IDTokenError.Code.self))
        #expect(Self.areUnique(LogoutTokenError.Code.self))
        #expect(Self.areUnique(EnrollmentError.Code.self))
        #expect(Self.areUnique(PushMessageError.Code.self))
        #expect(Self.areUnique(EndpointError.Code.self))
        #expect(Self.areUnique(JWSError.self))
        #expect(Self.areUnique(KeyAttestationError.self))
    }

    @Test("An unknown error code keeps its name")
    func keepsUnknownErrorCode() {
        let code = OAuthError.Code(rawValue: "a_code_of_a_later_version")
        #expect(code.description == "a_code_of_a_later_version")
        #expect(!OAuthError.Code.allCases.contains(code))
    }

    @Test("A retryable server error carries the wait time that the server requested")
    func retryableErrorCarriesWait() {
        let error: any Error = OAuthError(.temporarilyUnavailable, status: 503, retryAfter: .seconds(7))
        let retryable = error as? any RetryableError
        #expect(retryable?.isRetryable == true)
        #expect(retryable?.retryAfter == .seconds(7))
    }

    private static func areUnique<Code: ErrorCode>(_ type: Code.Type) -> Bool {
        Set(type.allCases.map(\.rawValue)).count == type.allCases.count
    }
}
