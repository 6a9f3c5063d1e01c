import CryptoExtras
import Foundation
import SignetCore

extension JSONWebKey {
    /// Verifies a signature of any ``JWSAlgorithm``, also with RSA.
    ///
    /// It is a `JWSVerifier`.
    static func verify(
        _ key: JSONWebKey, _ algorithm: JWSAlgorithm, _ signature: [UInt8], _ input: [UInt8]
    ) -> Bool {
        guard case .rsa(let modulus, let exponent) = key.numbers else { return key.isValid(signature, of: input, algorithm) }
        guard let padding = algorithm.padding, let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent) else {
            return false
        }
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: input, padding: padding)
    }
}

extension JWSAlgorithm {
    /// The padding of an RSA signature (RFC 7518 sections 3.3 and 3.5); nil for other algorithms.
    var padding: _RSA.Signing.Padding? {
        switch self {
        case .rs256: .insecurePKCS1v1_5
        case .ps256: .PSS
        case .es256, .edDSA: nil
        }
    }
}
