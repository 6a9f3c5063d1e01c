import Foundation
import SignetCore
import Testing

@Suite("Enrollment URIs of the test vectors")
struct EnrollmentVectorTests {
    @Test("Every accepted row is read with the fields of the row", arguments: try Vectors.rows("enrollment", "accept"))
    func acceptsVectorRows(row: Vectors.Row) throws {
        let enrollment = try EnrollmentURI.parse(try row.text("uri"))
        for (field, expected) in row.members where field != "name" && field != "uri" {
            let found = try Self.value(of: field, in: enrollment)
            #expect(found == expected, "\(field)")
        }
    }

    @Test("Every accepted row is unchanged after writing and reading", arguments: try Vectors.rows("enrollment", "accept"))
    func vectorRowsRoundTrip(row: Vectors.Row) throws {
        let enrollment = try EnrollmentURI.parse(try row.text("uri"))
        let written = EnrollmentURI.print(enrollment)
        #expect(try EnrollmentURI.parse(written) == enrollment)
        #expect(EnrollmentURI.print(try EnrollmentURI.parse(written)) == written)
    }

    @Test(
        "Every refused row gives an error that names the invalid part and repeats none of its values",
        arguments: try Vectors.rows("enrollment", "refuse"))
    func refusesVectorRows(row: Vectors.Row) throws {
        let uri = try row.text("uri")
        let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse(uri) }
        #expect(error.part == (try row.text("wrong")))

        for text in Self.everyText(of: error) {
            for value in Self.sensitiveValues(in: uri) {
                #expect(!text.localizedCaseInsensitiveContains(value), "\(text)")
            }
        }
    }

    @Test(
        "An error code tells missing, invalid, unsupported and unsafe parts apart",
        arguments: [
            ("no secret", EnrollmentError.Code.missing), ("secret not base32", .invalid), ("digits 3", .invalid),
            ("unknown algorithm", .unsupported), ("web address", .unsupported), ("version 2", .unsupported),
            ("push without s", .missing),
            ("bidi control in the label", .unsafe), ("push, r is not a URL", .invalid),
            ("push, r is plain http to another machine", .unsafe),
        ])
    func enrollmentErrorCodes(name: String, code: EnrollmentError.Code) throws {
        let named = try Vectors.rows("enrollment", "refuse").first { $0.members["name"]?.string == name }
        let row = try #require(named)
        let error = try #require(throws: EnrollmentError.self) { try EnrollmentURI.parse(try row.text("uri")) }
        #expect(error.code == code)
    }

    // MARK: Fields of a row

    private struct UnknownField: Error {
        let name: String
    }

    /// Returns the value of a row's field in an enrollment, written as in the vectors.
    private static func value(of field: String, in enrollment: Enrollment) throws -> JSONValue? {
        func text(_ value: String?) -> JSONValue? { value.map { .string($0) } }
        let oath = enrollment.oath
        switch field {
        case "type": return .string(type(of: enrollment))
        case "issuer": return .string(enrollment.account.issuer)
        case "account": return .string(enrollment.account.accountName)
        case "digits": return oath.map { .integer(Int64($0.digits.count)) }
        case "algorithm": return text(oath?.algorithm.rawValue)
        case "period":
            if case .time(let period) = oath?.factor { return .integer(Int64(period.seconds)) }
            return nil
        case "counter":
            if case .counter(let next) = oath?.factor { return .integer(Int64(next)) }
            return nil
        case "secretHex":
            return text(oath?.secret.withUnsafeBytes { $0.map { String(format: "%02x", Int($0)) }.joined() })
        case "codeAt1735689600": return text(oath?.code(at: Sample.newYear2025).digits)
        case "firstCodes": return firstTwoCodes(of: oath)
        case "registrationEndpoint": return text(enrollment.push?.registrationEndpoint.url)
        case "authenticationEndpoint": return text(enrollment.push?.authenticationEndpoint.url)
        case "loadBalancer": return text(enrollment.push?.loadBalancerCookie)
        case "messageId": return text(enrollment.push?.messageID)
        case "image": return text(enrollment.imageURL)
        case "backgroundColor": return text(enrollment.backgroundColor)
        case "policies": return .object(enrollment.policies)
        case "uid": return text(enrollment.userID)
        case "oathResourceId": return text(enrollment.oathResourceID)
        case "pushResourceId": return text(enrollment.push?.resourceID)
        default: throw UnknownField(name: field)
        }
    }

    private static func type(of enrollment: Enrollment) -> String {
        var types: [String] = []
        switch enrollment.oath?.factor {
        case .time: types.append("totp")
        case .counter: types.append("hotp")
        case nil: break
        }
        if enrollment.push != nil { types.append("push") }
        return types.joined(separator: "+")
    }

    private static func firstTwoCodes(of settings: OATHSettings?) -> JSONValue? {
        guard var settings else { return nil }
        let codes = (0..<2).compactMap { _ in settings.reserveCounter()?.code(at: Sample.newYear2025).digits }
        return .array(codes.map { .string($0) })
    }

    // MARK: Texts of an error

    /// Returns every text form of an error.
    static func everyText(of error: EnrollmentError) -> [String] {
        var dumped = ""
        dump(error, to: &dumped)
        return [error.description, String(describing: error), String(reflecting: error), error.localizedDescription, dumped]
    }

    /// Returns the values of all parameters, escaped and unescaped, that are long enough not to match by chance.
    static func sensitiveValues(in uri: String) -> [String] {
        guard let query = uri.split(separator: "?", maxSplits: 1).dropFirst().first else { return [] }
        return query.split(separator: "&").flatMap { pair -> [String] in
            let value = String(pair.drop { $0 != "=" }.dropFirst())
            return [value, value.removingPercentEncoding ?? value]
        }
        .filter { $0.count > 5 }
    }
}
