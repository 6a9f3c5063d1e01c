import SignetNetwork
import Testing

@testable import signet

@Suite("The advice in error messages")
struct FailureTests {
    private func message(_ code: TransportError.Code, _ reason: String) -> String {
        Failure(TransportError(code, host: "am.example.com", reason)).message
    }

    @Test("Only the error of a certificate that another authority may have issued names --ca-file")
    func namesAuthorityFile() {
        #expect(message(.tls, "the server's certificate is not trusted here").contains("--ca-file"))
        for reason in [TransportError.otherHostName, TransportError.noTLS] {
            #expect(message(.tls, reason) == "am.example.com: \(reason)")
        }
        #expect(message(.connect, "no connection in time") == "am.example.com: no connection in time; try again")
    }
}
