import SignetCore
import Testing

@Suite("Error codes")
struct ErrorCodeTests {
    @Test("Each code of an error type has a name of its own")
    func uniqueNames() {
        #expect(Self.areUnique(OAuthError.Code.self))
        #expect(Self.areUnique(IDTokenError.Code.self))
        #expect(Self.areUnique(EnrollmentError.Code.self))
        #expect(Self.areUnique(PushMessageError.Code.self))
        #expect(Self.areUnique(EndpointError.Code.self))
        #expect(Self.areUnique(JWSError.self))
    }

    @Test("A code that this version does not know is kept with its name")
    func unknownCode() {
        let code = OAuthError.Code(rawValue: "a_code_of_a_later_version")
        #expect(code.description == "a_code_of_a_later_version")
        #expect(!OAuthError.Code.allCases.contains(code))
    }

    @Test("An error of the server is retryable through the protocol, with the time that the server asked for")
    func retryable() {
        let error: any Error = OAuthError(.temporarilyUnavailable, status: 503, retryAfter: .seconds(7))
        let retryable = error as? any RetryableError
        #expect(retryable?.isRetryable == true)
        #expect(retryable?.retryAfter == .seconds(7))
    }

    private static func areUnique<Code: ErrorCode>(_ type: Code.Type) -> Bool {
        Set(type.allCases.map(\.rawValue)).count == type.allCases.count
    }
}
