#if os(Linux)
import Foundation
import Glibc
import SignetCore
import SignetTesting
import Testing
import TestSupport

@testable import SignetStorage

@Suite("A machine without a TPM")
struct TPMAbsenceTests {
    private let dataKey = Secret.random(byteCount: 32)

    @Test("An empty TCTI name is refused without a search for a TPM", arguments: ["", ":", ":host=127.0.0.1", "swtpm\0", "\0"])
    func refusesEmptyTCTI(tcti: String) {
        let protector = TPMProtector(tcti: tcti)
        let error = failure { () throws(StoreError) in try protector.wrap(dataKey, context: []) }
        #expect(error?.code == .keyUnavailable)
        #expect(error?.reason.contains("device:/dev/tpmrm0") == true)
        #expect(!protector.availability().isUsable)
    }

    @Test("A missing TPM device is named in the error")
    func namesMissingTPMDevice() {
        let protector = TPMProtector(tcti: "device:/dev/signet-has-no-such-tpm")
        let error = failure { () throws(StoreError) in try protector.wrap(dataKey, context: []) }
        #expect(error?.code == .keyUnavailable)
        #expect(error?.reason.contains("/dev/signet-has-no-such-tpm") == true)
        #expect(error?.platformStatus == ENOENT)
        #expect(protector.availability() == .unusable(error?.reason ?? ""))
    }

    @Test("A file in place of a TPM device is refused, and nothing is written to it")
    func refusesFileAsTPM() async throws {
        try await TemporaryDirectory.with { directory in
            try PrivateFile.create(directory.file("file"), containing: [1, 2, 3])
            let protector = TPMProtector(tcti: "device:\(directory.file("file"))")
            let error = failure { () throws(StoreError) in try protector.wrap(dataKey, context: []) }
            #expect(error?.code == .keyUnavailable)
            let content = try PrivateFile.contents(of: directory.file("file"), limit: 100)
            #expect(content == [1, 2, 3])
        }
    }

    @Test("A TPM simulator's port without a listener makes the key unavailable")
    func reportsMissingTPMSimulator() {
        let protector = TPMProtector(tcti: "swtpm:host=127.0.0.1,port=1")
        let error = failure { () throws(StoreError) in try protector.wrap(dataKey, context: []) }
        #expect(error?.code == .keyUnavailable)
    }

    @Test("Every missing TPM library is named")
    func namesMissingTPMLibraries() {
        let names = TSS2Library.Names(
            esys: "libtss2-esys-signet-test.so.0", tctildr: "libtss2-tctildr.so.0", mu: "libtss2-mu-signet-test.so.0")
        let error = failure { () throws(StoreError) in try TSS2Library(names) }
        #expect(error?.code == .keyUnavailable)
        #expect(error?.reason.contains("libtss2-esys-signet-test.so.0 is not installed") == true)
        #expect(error?.reason.contains("libtss2-mu-signet-test.so.0 is not installed") == true)
        #expect(error?.reason.contains("install") == true)
    }

    @Test("A TPM library that lacks a function is named with the function")
    func namesMissingTPMFunction() {
        let error = failure { () throws(StoreError) in try TSS2Library(.init(mu: "libc.so.6")) }
        #expect(error?.code == .keyUnavailable)
        #expect(error?.reason.contains("libc.so.6 has no function Tss2_MU_TPM2B_PRIVATE_Marshal") == true)
    }

    #if compiler(>=6.3)
    @Test("A process without permission for the TPM device is told the group that has it")
    func namesTPMGroup() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("tpm")
            try PrivateFile.create(path, containing: [])
            chmod(path, 0)
            await #expect(processExitsWith: .success) { [path = path as String] in
                if geteuid() == 0 { try #require(setuid(65534) == 0) }
                let protector = TPMProtector(tcti: "device:\(path)")
                let error = failure { () throws(StoreError) in try protector.wrap(Secret([1]), context: []) }
                #expect(error?.code == .denied)
                #expect(error?.reason.contains("group tss") == true)
                #expect(error?.platformStatus == EACCES)
            }
        }
    }
    #endif

    @Test(
        "A program at the simulators' port that is not a TPM is refused",
        .enabled(if: TPMSupport.isHere && !TPMSupport.hasRealTPM, "there is a real TPM, or no swtpm"))
    func refusesFakeTPM() async throws {
        try await SoftwareTPM.with(port: 2321) { fake in
            // The port is the one that tpm2-tss finds when it searches.
            let found = try await fake.tool("tpm2_getcap", "handles-persistent", "-T", "swtpm")
            #expect(found.isEmpty)
            let protector = TPMProtector()
            #expect(!protector.availability().isUsable)
            let error = failure { () throws(StoreError) in try protector.wrap(dataKey, context: []) }
            #expect(error?.code == .keyUnavailable)
            #expect(!SecuredKey.isAvailable())
            #expect(SecuredKeyEncryptor() == nil)
        }
    }
}
#endif
