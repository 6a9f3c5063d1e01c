import Foundation
import SignetCore
import Testing

@Suite("The load balancer cookie")
struct LoadBalancerCookieTests {
    /// Returns the cookie of parameter or claim `l`, read from a URI and from a message, which must agree.
    private func cookie(of value: String) throws -> Result<String?, PartError> {
        let escaped = try #require(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let fromURI: Result<String?, PartError>
        do throws(EnrollmentError) {
            fromURI = .success(try EnrollmentURI.parse(Sample.pushURI(changing: ["l": escaped])).push?.loadBalancerCookie)
        } catch {
            fromURI = .failure(PartError(part: error.part))
        }
        let claims: JSONValue = .object(["u": .string("1"), "c": .string("AAAA"), "l": .string(value)])
        let message = CompactJWS.sign(JSON.encode(claims), with: try Sample.pushSecret)
        let fromMessage: Result<String?, PartError>
        let secret = try Sample.pushSecret
        do throws(PushMessageError) {
            fromMessage = .success(try SealedPushMessage(message).open(with: secret).loadBalancerCookie)
        } catch {
            fromMessage = .failure(PartError(part: error == .claim("l") ? "l" : error.description))
        }
        #expect(fromURI == fromMessage)
        return fromURI
    }

    private struct PartError: Error, Equatable {
        let part: String
    }

    @Test(
        "The cookie is read from plain text and from base64 in either alphabet, padded or not",
        arguments: [
            ("YW1sYmNvb2tpZT0wMQ", "amlbcookie=01"), ("YW1sYmNvb2tpZT0wMQ==", "amlbcookie=01"),
            ("amlbcookie=01", "amlbcookie=01"),
            ("YT1iPj8_", "a=b>??"), ("YT1iPj8/", "a=b>??"), ("route=a.b|c; Path=/", "route=a.b|c; Path=/"),
        ])
    func readsCookieForms(value: String, text: String) throws {
        #expect(try cookie(of: value) == .success(text))
    }

    @Test("A missing cookie is read as nil", arguments: [""])
    func readsMissingCookie(value: String) throws {
        #expect(try cookie(of: value) == .success(nil))
    }

    @Test(
        "A line break that would start another header is refused in plain text and in base64",
        arguments: [
            "a=b\r\nX-Evil: 1", "a=b\nX: 1", "a=b\rX: 1", "a=b\r\n", "\r\na=b", "a=\0", "a=\u{7F}", "a=\u{1B}[2J", "a=ü",
            "a=\u{2028}b",
        ])
    func refusesLineBreakInCookie(text: String) throws {
        for filler in ["", "x", "xx"] {
            let whole = text + filler
            let padded = Data(whole.utf8).base64EncodedString()
            for value in [whole, padded, Sample.base64URL(whole)] {
                #expect(try cookie(of: value) == .failure(PartError(part: "l")), "\(value)")
            }
        }
    }

    @Test("A cookie without a name is refused", arguments: ["=b", "nonsense", "PWI", "bm9uc2Vuc2U", "bm9uc2Vuc2UhIQ=="])
    func refusesNamelessCookie(value: String) throws {
        #expect(try cookie(of: value) == .failure(PartError(part: "l")))
    }
}
